"""Applies `[[http]]` and `[[tolerance]]` rows: facts about a revision's peers that no type states.

Each revision answers the questions of HTTP_FACTS. A tolerance of an older revision is asked about
again in every newer one whose bodies still have the member.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, get_args

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions import Decisions, Row, paste
from mcp_bindgen.ir.model import (
    Conventions,
    Fault,
    Method,
    Ref,
    Role,
    Schema,
    Struct,
    Tolerance,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import stripped

__all__ = ["HTTP_FACTS", "conventions"]

HTTP_FACTS: Final = {
    "version_header": "does a client repeat the agreed revision in a header of each HTTP request?",
    "primed_streams": "does an HTTP stream begin with an event that has an id and no data?",
}
"""The path of an `[[http]]` row, and the question that its `value` answers."""

_FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_POSITIONS: Final = ("params", "result")


def conventions(schema: Schema, decisions: Decisions | None) -> Schema:
    """`schema` with what the rows say of its peers; without rows the defaults.

    Raises DecisionError for a row that cannot be applied.
    """
    if decisions is None:
        return schema
    answers = {path: _http(schema, decisions, path) for path in HTTP_FACTS}
    tolerances = tuple(_tolerances(schema, decisions))
    return replace(schema, conventions=Conventions(tolerances=tolerances, **answers))


def _http(schema: Schema, decisions: Decisions, path: str) -> bool:
    row = decisions.get("http", schema.revision, path)
    if row is None:
        question = f"{schema.path}: {HTTP_FACTS[path]}"
        decisions.miss(question, paste("http", schema.revision, path, {"value": ""}))
        return False
    if not isinstance(row.values["value"], bool):
        raise DecisionError(f"[[http]] `{path}` of {schema.revision}: value is not true or false")
    return row.values["value"]


def _tolerances(schema: Schema, decisions: Decisions) -> Iterator[Tolerance]:
    rows = {row.path: row for row in decisions.of("tolerance", schema.revision)}
    for row in rows.values():
        if row.values["forgives"]:
            yield _tolerance(schema, row)
    for path, older in _of_older_revisions(schema, decisions).items():
        if path not in rows and _has_member(schema, path):
            question = f"{schema.path}: {older.revision} tolerates faults of `{path}`; still?"
            values: dict[str, Any] = {
                key: older.values[key] for key in ("reader", "value", "forgives")
            }
            decisions.miss(question, paste("tolerance", schema.revision, path, values))


def _of_older_revisions(schema: Schema, decisions: Decisions) -> dict[str, Row]:
    """The newest row for each path among those of older revisions."""
    rows = (row for row in decisions.rows.values() if row.kind == "tolerance")
    older = sorted(
        (row for row in rows if row.revision < schema.revision), key=lambda row: row.revision
    )
    return {row.path: row for row in older}


def _tolerance(schema: Schema, row: Row) -> Tolerance:
    position, _, member = row.path.partition(".")
    reader, forgives = row.values["reader"], tuple(row.values["forgives"])
    where = f"[[tolerance]] `{row.path}` of {schema.revision}"
    if position not in _POSITIONS or not _has_member(schema, row.path):
        raise DecisionError(
            f"{where}: no {position} of this revision has a member {member!r}",
            remedy="Name it as `result.member` or `params.member`, or take the revision out.",
        )
    value = row.values["value"]
    is_known = reader in _ROLES and set(forgives) <= set(_FAULTS)
    if not is_known or not isinstance(value, str | int | float):
        raise DecisionError(
            f"{where}: reader {reader!r}, value {value!r} and forgives {forgives} do not fit",
            remedy=f"Readers: {', '.join(_ROLES)}; faults: {', '.join(_FAULTS)}; a value is a"
            " text, a number or a truth value.",
        )
    return Tolerance(reader, position, member, value, forgives)


def _has_member(schema: Schema, path: str) -> bool:
    position, _, member = path.partition(".")
    return any(
        struct.field(member) is not None
        for method in schema.methods
        for struct in _structs(schema, _body(method, position))
    )


def _body(method: Method, position: str) -> Type | None:
    return method.result if position == "result" else method.params


def _structs(schema: Schema, type: Type | None) -> Iterator[Struct]:
    """The structs that a body may be."""
    match None if type is None else stripped(schema, type):
        case Uni(arms):
            for arm in arms:
                yield from _structs(schema, arm)
        case Ref(name):
            yield schema.structs[name]
        case _:
            pass
