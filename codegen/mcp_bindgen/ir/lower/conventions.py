"""Adds facts of decisions.toml to the IR that the schema lacks: `[[http]]` and `[[tolerance]]`.

An `[[http]]` row says how a revision uses HTTP, with a value for each key of _HTTP_FACTS. A
`[[tolerance]]` row names a member that real peers send wrongly and the runtime accepts; it must be
confirmed for every newer revision whose messages still have the member.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, get_args

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions.decisions import Decisions, Row
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
from mcp_bindgen.ir.walk import strip_bounds

__all__ = ["conventions"]

_HTTP_FACTS: Final = {
    "version_header": "does a client repeat the agreed revision in a header of each HTTP request?",
    "primed_streams": "does an HTTP stream begin with an event that has an id and no data?",
}
"""The path of an `[[http]]` row, and the question answered by its `value`."""

_FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_POSITIONS: Final = ("params", "result")


def conventions(schema: Schema, decisions: Decisions | None) -> Schema:
    """`schema` with the conventions in the rows; without rows, with the defaults.

    Raises DecisionError for an inapplicable row.
    """
    if decisions is None:
        return schema
    answers = {path: _http(schema, decisions, path) for path in _HTTP_FACTS}
    tolerances = tuple(_tolerances(schema, decisions))
    return replace(schema, conventions=Conventions(tolerances=tolerances, **answers))


def _http(schema: Schema, decisions: Decisions, path: str) -> bool:
    question = f"{schema.path}: {_HTTP_FACTS[path]}"
    row = decisions.ask("http", schema.revision, path, None, question, {"value": ""})
    if row is None:
        return False
    if not isinstance(row.values["value"], bool):
        said = f"[[http]] `{path}` of {schema.revision}: value = {row.values['value']!r}"
        raise DecisionError(f"{decisions.source}: {said} does not fit", remedy="Say true or false.")
    return row.values["value"]


def _tolerances(schema: Schema, decisions: Decisions) -> Iterator[Tolerance]:
    for path in decisions.paths("tolerance", schema.revision):
        members = sorted(set(map(repr, _members(schema, path))))
        own = decisions.get("tolerance", schema.revision, path)
        if own is None and not members:
            continue
        question = f"{schema.path}: is a fault of `{path}` in what peers send still repaired?"
        unsaid = {"reader": "", "value": "", "forgives": ""}
        row = decisions.ask("tolerance", schema.revision, path, members, question, unsaid)
        if row is not None and row.values["forgives"]:
            yield _tolerance(schema, row)


def _tolerance(schema: Schema, row: Row) -> Tolerance:
    position, _, member = row.path.partition(".")
    reader, forgives = row.values["reader"], tuple(row.values["forgives"])
    where = f"[[tolerance]] `{row.path}` of {schema.revision}"
    if position not in _POSITIONS or not any(_members(schema, row.path)):
        raise DecisionError(
            f"{where}: no {position} of this revision has a member {member!r}",
            remedy="Name it as `result.member` or `params.member`, or take the revision out.",
        )
    value, leaves_out = row.values.get("value"), "item" in forgives
    is_known = reader in _ROLES and set(forgives) <= set(_FAULTS)
    if leaves_out:
        fits = value is None and set(forgives) <= {"item", "every item"}
    else:
        fits = isinstance(value, str | int | float) and "every item" not in forgives
    if not is_known or not fits:
        raise DecisionError(
            f"{where}: reader {reader!r}, value {value!r} and forgives {forgives} do not fit",
            remedy=f"Readers: {', '.join(_ROLES)}; faults: {', '.join(_FAULTS)}; a value is a"
            " text, a number or a truth value, and rows about items have none.",
        )
    return Tolerance(reader, position, member, value, forgives)


def _members(schema: Schema, path: str) -> Iterator[tuple[bool, Type]]:
    """For each body with a member of this name: whether it is required, and its type."""
    position, _, wire = path.partition(".")
    for method in schema.methods:
        for struct in _structs(schema, _body(method, position)):
            if (member := struct.field(wire)) is not None:
                yield member.required, member.type


def _body(method: Method, position: str) -> Type | None:
    return method.result if position == "result" else method.params


def _structs(schema: Schema, type: Type | None) -> Iterator[Struct]:
    """The structs of a body."""
    match None if type is None else strip_bounds(schema, type):
        case Uni(arms):
            for arm in arms:
                yield from _structs(schema, arm)
        case Ref(name):
            yield schema.structs[name]
        case _:
            pass
