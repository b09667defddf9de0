"""Validates JSON by a peer's JSON Schema, with jsonschema-rs (extra `schemas`).

Nothing is fetched: a reference must stay within its schema.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import util
from typing import Any, Final, NoReturn, TypeAlias, cast

from mcp_runtime.errors import NotInstalled
from mcp_runtime.json_schema.to_json import excerpt, place
from mcp_runtime.json_schema.validation_cost import Unfollowed, Work, worker
from mcp_runtime.limits import SCHEMA_VISITS

Check: TypeAlias = Callable[[Any], str | None]
"""Returns the fault of parsed JSON with its place; None if it is valid."""

_BACKTRACKS: Final = 100_000
"""After so many backtracking steps a pattern of the peer counts as no match."""
_LONGEST: Final = 200
"""The most characters of a validator's message."""


class BadSchema(Exception):
    """The peer's schema cannot be used; the text has the reason."""


def validate_schema(schema: Any, value: Any) -> str | None:
    """Return the fault of parsed JSON by a schema, with its place; None if it is valid.

    The draft is the one named by `$schema`, 2020-12 by default. Raises BadSchema for an invalid
    schema or one with a reference to another document, NotInstalled without the extra `schemas`.
    """
    return checker(schema)(value)


def checker(schema: Any) -> Check:
    """Return the check of `validate_schema` for many values of one schema."""
    require_installed()
    import jsonschema_rs

    validator, work = _compile(schema)

    def check(value: Any) -> str | None:
        cost = work(value)
        if cost.visits > SCHEMA_VISITS:
            return f"$: validating it needs over {SCHEMA_VISITS} visits of the schema's parts"
        try:
            # `is_valid` stops at the first fault. `validate` explains it and may visit far more, so
            # it runs only where few visits repeat.
            if validator.is_valid(value):
                return None
            if not cost.is_fair:
                return "$: it does not fit the schema"
            validator.validate(value)
        except jsonschema_rs.ValidationError as fault:
            return f"{place(fault.instance_path)}: {_short(fault.message)}"
        except (ValueError, RecursionError) as error:
            return f"$: {_short(error)}"
        raise AssertionError("a value fits and does not fit")

    return check


def _compile(schema: Any) -> tuple[Any, Callable[[Any], Work]]:
    """Return the library's validator, and the counter of visits. Raise BadSchema."""
    import jsonschema_rs

    if not isinstance(schema, dict | bool):
        raise BadSchema(f"a schema is an object or a truth value, not {excerpt(schema)}")
    if isinstance(schema, dict) and cast("dict[str, Any]", schema).get("$schema") == "":
        raise BadSchema("the `$schema` of the schema is empty: it names no dialect")
    try:
        validator = jsonschema_rs.validator_for(
            cast("dict[str, Any] | bool", schema),
            retriever=_refuse,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS),
        )
        return validator, worker(schema)
    except (ValueError, TypeError, RecursionError, Unfollowed) as error:
        raise BadSchema(f"the schema cannot be used: {_short(error)}") from None


def require_installed() -> None:
    """Raise NotInstalled without the extra `schemas`."""
    if util.find_spec("jsonschema_rs") is None:
        raise NotInstalled(
            "checking values against a peer's JSON Schema", "jsonschema-rs", "schemas"
        )


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"it refers to {uri}, and schemas are not fetched")


def _short(message: object) -> str:
    text = str(message).partition("\n")[0]
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
