"""The `[[wire]]` rows: which messages of a data model need one, and the places they give.

In a data model a message has `payload` and `metadata`, and its transport says in prose where they
travel. A row says it for each kind of message: `places` has the place of each member, `adds` the
members of the transport alone, such as the id, and `as` names the envelope. A row for another
declaration adds members to it.

    path = "MCPRequest"
    as = "JSONRPCRequest"
    places = { method = "method", payload = "params", "metadata.meta" = "params._meta" }
    adds = { jsonrpc = '"2.0"', id = "string | number" }
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from mcp_bindgen.errors import DecisionError
from mcp_bindgen.ir.decisions.decisions import Decisions, Row
from mcp_bindgen.ir.model import Field, Lit, Prim, Ref, Schema, Type, Uni
from mcp_bindgen.ir.names import member_name
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.source import syntax

__all__ = [
    "METADATA",
    "PAYLOAD",
    "above",
    "added",
    "ask",
    "ask_member",
    "kinds",
    "place",
    "python_name",
    "table",
]

PAYLOAD: Final = "payload"
METADATA: Final = "metadata"
_UNKNOWN: Final = syntax.Keyword("unknown", 0)
_PRIMS: Final = ("string", "number", "boolean", "object", "unknown")


# ---- the kinds of messages


def kinds(resolver: Resolver, messages: Collection[str]) -> dict[str, syntax.Inline]:
    """The declarations that the messages of a data model extend, with their members.

    Each extends the envelope of all messages, which has both members and extends none that has.
    Without `messages`, the names of declarations, below one of them there is no data model.
    """
    shapes = {name: shape for name, shape in _shapes(resolver) if _is_apart(shape)}
    parents = {name: [p for p in _bases(resolver, name) if p in shapes] for name in shapes}
    tops = {name for name, over in parents.items() if not over}
    below = {n: shapes[n] for n, over in parents.items() if not tops.isdisjoint(over)}
    is_used = any(not below.keys().isdisjoint(above(resolver, name)) for name in messages)
    return below if is_used else {}


def _shapes(resolver: Resolver) -> Iterator[tuple[str, syntax.Inline]]:
    """The members of each interface, if any has a payload; generic ones with their defaults."""
    own = [d for name, d in resolver.declared.items() if name not in resolver.foreign]
    interfaces = [d for d in own if isinstance(d, syntax.Interface)]
    if any(member.name == PAYLOAD for each in interfaces for member in each.members):
        for each in interfaces:
            usual = (p.default or p.constraint or _UNKNOWN for p in each.params)
            yield each.name, resolver.shape(syntax.Ref(each.name, tuple(usual), each.at), each.at)


def _is_apart(shape: syntax.Inline) -> bool:
    members = {member.name for member in shape.members}
    return {PAYLOAD, METADATA} <= members and "jsonrpc" not in members


def _bases(resolver: Resolver, name: str) -> list[str]:
    """The names of the declarations that a declaration extends, or is an intersection of."""
    extends: tuple[syntax.Type, ...] = ()
    match resolver.declared.get(name):
        case syntax.Interface(extends=bases):
            extends = bases
        case syntax.Alias(type=syntax.Intersection(of=parts)):
            extends = parts
        case _:
            pass
    return [base.name for base in extends if isinstance(base, syntax.Ref)]


def above(resolver: Resolver, name: str) -> set[str]:
    """The names of all declarations that a declaration extends."""
    names: set[str] = set()
    queue = _bases(resolver, name)
    while queue:
        base = queue.pop()
        if base not in names:
            names.add(base)
            queue += _bases(resolver, base)
    return names


# ---- the rows


def ask(
    schema: Schema, resolver: Resolver, decisions: Decisions, kind: str, shape: syntax.Inline
) -> Row | None:
    """The row of a kind of messages; None if it is missing. Raises DecisionError if it lacks
    anything.
    """
    members = _members(resolver, shape)
    question = (
        f"{resolver.source.place(resolver.declared[kind].at)}: `{kind}` has `{PAYLOAD}` and"
        f" `{METADATA}`: where does each member stand on the wire (empty for nowhere), which"
        " members does the transport add, and what is the envelope called?"
        "\n#   (Other declarations get members by rows of their own, with `adds` alone.)"
    )
    values = {"as": "", "places": dict.fromkeys(members, ""), "adds": {}}
    row = decisions.ask("wire", schema.revision, kind, members, question, values)
    if row is not None:
        places = table(row, "places")
        if sorted(places) != sorted(members) or not row.values.get("as") or not places[PAYLOAD]:
            raise DecisionError(
                f"[[wire]] `{kind}` of {schema.revision} does not fit",
                remedy=f"Give `as`, and `places` for {', '.join(members)}; the payload needs one.",
            )
    return row


def _members(resolver: Resolver, shape: syntax.Inline) -> list[str]:
    """The members of a message; those of its metadata as `metadata.name`."""
    names: list[str] = []
    for member in shape.members:
        inner = resolver.object_shape(member.type) if member.name == METADATA else None
        inside = [f"{METADATA}.{each.name}" for each in inner.members] if inner else []
        names += inside if member.name == METADATA else [member.name]
    return names


def ask_member(schema: Schema, decisions: Decisions, path: str) -> Row | None:
    """The row that adds members to a declaration which is no message."""
    struct = schema.structs.get(path)
    if struct is None:
        if decisions.get("wire", schema.revision, path) is not None:
            raise DecisionError(f"[[wire]] `{path}`: {schema.revision} has no such declaration")
        return None
    wires = sorted(field.wire for field in struct.fields)
    question = f"{schema.path}: which members does the transport add to `{path}`?"
    return decisions.ask("wire", schema.revision, path, wires, question, {"adds": {}})


def table(row: Row, key: str) -> Mapping[str, str]:
    """The texts of a row by name; none if it lacks the key."""
    texts: Mapping[str, str] = row.values.get(key, {})
    return texts


def place(text: str) -> tuple[str, ...]:
    """The names on the way to a member: at most three, of which the last one may have dots."""
    return tuple(text.split(".", 2)) if text else ()


def added(schema: Schema, row: Row) -> dict[str, Field]:
    """The members of the transport in a row, by their place; `id?` may be absent.

    A type is names and literals, with `|` between.
    """
    return {place: _field(schema, row, place, text) for place, text in table(row, "adds").items()}


def _field(schema: Schema, row: Row, place: str, text: str) -> Field:
    types = tuple(_type(schema, row, part.strip()) for part in text.split("|"))
    wire = place.removesuffix("?")
    type = types[0] if len(types) == 1 else Uni(types)
    return Field(wire, python_name(wire), type, required=wire == place)


def python_name(wire: str) -> str:
    """The Python name of a member. Raises DecisionError if it can have none."""
    name = member_name(wire)
    if name is None:
        raise DecisionError(f"[[wire]]: the member {wire!r} has no Python name")
    return name


def _type(schema: Schema, row: Row, text: str) -> Type:
    if text in _PRIMS:
        return Prim(text)
    if text in schema.types:
        return Ref(text)
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, str | int | float | bool):
        raise DecisionError(
            f"[[wire]] `{row.path}` of {schema.revision}: {text!r} is no type",
            remedy=f"Give a literal in quotes, a type of the schema, or {', '.join(_PRIMS)}.",
        )
    return Lit(value)
