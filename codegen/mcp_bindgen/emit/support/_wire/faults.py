"""The errors of reading, writing and construction, their texts, and the search for non-JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from re import compile as pattern
from typing import Any, Final

from .values import (
    GIVEN,
    LARGEST,
    MAX_DEPTH,
    MAX_DIGITS,
    At,
    Json,
    Unset,
    is_number,
    is_string,
    is_text,
)


class WireError(ValueError):
    """A fault at `path`, such as `$.content[0].text`; `expected` and `found` say it in words."""

    def __init__(self, path: str, expected: str, found: str) -> None:
        super().__init__(f"{path}: expected {expected}, found {found}")
        self.path = path
        self.expected = expected
        self.found = found

    def __reduce__(self) -> tuple[type[WireError], tuple[str, str, str]]:
        return type(self), (self.path, self.expected, self.found)


class DecodeError(WireError):
    """The text is no JSON, or the JSON does not fit the type."""


class EncodeError(WireError):
    """The value has no form in JSON."""


class MemberError(WireError, TypeError):
    """An argument of a model's constructor does not fit the type of its member."""


_PLAIN = pattern(r"[A-Za-z_][A-Za-z0-9_]*\Z")
KINDS: Final[dict[type[Any], str]] = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    Unset: "nothing",
}


def kind(value: object) -> str:
    """Return the words for a value in an error: short values as JSON, longer ones by kind."""
    if value.__class__ is str and not is_string(value):
        return "a lone surrogate"
    if value.__class__ is int and not is_number(value):
        return f"an integer over {MAX_DIGITS} digits"
    if value.__class__ is str and len(str(value)) <= 40:
        return json.dumps(value)
    if isinstance(value, int) and value.bit_length() < 128 and value.__class__ is int:
        return str(value)
    if value.__class__ is float:
        return str(value)
    if value.__class__ is bool:
        return "true" if value else "false"
    return KINDS.get(value.__class__, value.__class__.__name__)


def path(at: At) -> str:
    """Return a place as text: `$.content[0].text`, or `$["my name"]` if no identifier."""
    steps: list[str] = []
    while at is not None and at is not GIVEN:
        at, step = at
        if not isinstance(step, str):
            steps.append(f"[{len(step) if isinstance(step, list) else step}]")
        else:
            steps.append(f".{step}" if _PLAIN.match(step) else f"[{_quote(step)}]")
    return "$" + "".join(reversed(steps))


def _quote(name: str) -> str:
    """A member's name as JSON: readable letters as they are, and a lone surrogate escaped."""
    return json.dumps(name, ensure_ascii=not is_string(name))


def wrong(at: At, expected: str, value: object) -> DecodeError:
    """Return the error for `value` at a place."""
    return DecodeError(path(at), expected, kind(value))


def too_deep() -> DecodeError:
    return DecodeError("$", f"JSON nested up to {MAX_DEPTH}", "deeper nesting")


def unending() -> EncodeError:
    return EncodeError("$", "JSON that ends", "deeper nesting")


def fault(value: Any) -> EncodeError:
    """Return the error for the first part of `value` without a form in JSON."""
    problem = _fault(value, None, 0)
    return problem or EncodeError("$", "JSON", "a value that cannot be written")


def _fault(value: Json, at: At, depth: int) -> EncodeError | None:
    if depth == MAX_DEPTH and isinstance(value, Mapping | list | tuple):
        return EncodeError(path(at), f"JSON nested up to {MAX_DEPTH}", "deeper nesting")
    if isinstance(value, str):
        return _unless(is_text(value), at, "text", "a lone surrogate")
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        short = -LARGEST <= value <= LARGEST
        return _unless(short, at, f"at most {MAX_DIGITS} digits", "a longer integer")
    if isinstance(value, float):
        return _unless(value - value == 0, at, "a finite number", str(value))
    if issubclass(value.__class__, Mapping):
        return _fault_in_object(value, at, depth)
    if issubclass(value.__class__, list | tuple):
        faults = (_fault(item, (at, i), depth + 1) for i, item in enumerate(value))
        return next(filter(None, faults), None)
    return EncodeError(path(at), "a JSON value", type(value).__name__)


def _fault_in_object(
    value: Mapping[Json, Json], at: At, depth: int
) -> EncodeError | None:
    for key, item in value.items():
        if not isinstance(key, str) or not is_text(key):
            return EncodeError(path(at), "a name that is text", repr(key)[:40])
        if problem := _fault(item, (at, key), depth + 1):
            return problem
    return None


def _unless(fine: bool, at: At, expected: str, found: str) -> EncodeError | None:
    return None if fine else EncodeError(path(at), expected, found)
