"""Puts squatters into a message: members that only another revision declares at that place."""

from __future__ import annotations

from functools import cache
from typing import Final

from mcp_bindgen.ir.model import Type
from tests.support.instances import JSON, Generator, Hand
from tests.support.judges import REVISIONS
from tests.support.law_messages import Message, Path, wire_schema, wrong
from tests.support.message_comparison import at

__all__ = ["squatted"]

_ODD: Final[tuple[JSON, ...]] = (
    None,
    True,
    5,
    0.5,
    "x",
    "form",
    "input_required",
    [],
    ["a"],
    [{}],
    [5],
    {},
    {"a": True},
    {"type": "object", "properties": {"a": False}},
    {"name": "n", "version": "1"},
    {"ttl": 3},
    {"uri": "file:///a"},
)


@cache
def _members(struct: str) -> tuple[tuple[str, str, Type], ...]:
    """The members that structs of a name have in any revision, each with its revision."""
    members = {
        (r, f.wire, f.type)
        for r in REVISIONS
        for s in (wire_schema(r).structs.get(struct),)
        for f in (s.fields if s else ())
    }
    return tuple(sorted(members, key=str))


def squatted(message: Message, hand: Hand) -> tuple[Message, set[Path]] | None:
    """A message with members that another revision declares there, and where they are.

    None if the message has no place for one, or breaks by it.
    """
    value, put = message.value, set[Path]()
    for _ in range(3 if message.structs else 0):
        path, struct = message.structs[hand.below(len(message.structs))]
        declared = wire_schema(message.revision).structs[struct]
        members = [
            row for row in _members(_TWINS.get(struct, struct)) if declared.field(row[1]) is None
        ]
        inside = at(value, path)
        if members and isinstance(inside, dict):
            revision, wire, type = members[hand.below(len(members))]
            if wire not in inside:
                value = _put(value, path, wire, _other(revision, type, hand))
                put.add((*path, wire))
    made = Message(message.revision, message.method, message.position, message.bare, value)
    return (made, put) if put and wrong(made) is None else None


def _other(revision: str, type: Type, hand: Hand) -> JSON:
    """A value of the type, or any other."""
    draw = Generator(wire_schema(revision), hand)
    draw.left = 10
    fitting = draw.odds(1, 2)
    return draw.fill(type, "squatter", (), False, None) if fitting else draw.one(_ODD)


_TWINS: Final = {
    "RequestParamsMeta": "RequestMetaObject",
    "AnnotatedAnnotations": "Annotations",
    "ElicitRequestParams": "ElicitRequestFormParams",
}
"""Structs that a later revision calls otherwise."""


def _put(value: JSON, path: Path, name: str, item: JSON) -> JSON:
    if not path:
        return {**value, name: item}
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:], name, item)
    return copy
