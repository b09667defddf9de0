"""Whether what a `[[step]]` row says can work: its values fit, and what it reads is there."""

from __future__ import annotations

from typing import Any, Final

from mcp_bindgen.convert.model import Decision
from mcp_bindgen.ir.accepts import accepts
from mcp_bindgen.ir.model import Schema, Struct, Type
from mcp_bindgen.ir.walk import struct_of

__all__ = ["arm_fault", "arm_question", "default_fault", "member_fault"]

_TEXT: Final = {"type": "text", "text": ""}
_ARMS: Final[dict[str, tuple[tuple[str, ...], Any]]] = {
    "blocks": ((), _TEXT),
    "choice": (("type", "oneOf"), None),
    "json": ((), ""),
    "link": (("name", "uri"), _TEXT),
    "media": (("type", "mimeType"), _TEXT),
    "task": (("task",), {"content": [_TEXT]}),
    "text": ((), _TEXT),
    "tool_result": (("content",), _TEXT),
    "tool_use": (("name", "input"), _TEXT),
}
"""What can be said plainer of an arm: the members that are read, and what comes of them."""

_MEMBERS: Final[dict[str, tuple[str, ...]]] = {"structured": ("content",), "schemas": ()}
"""What can be said plainer of a member: the members beside it that are read and written."""


def arm_question(schemas: tuple[Schema, Schema], leaf: Type, target: Type) -> str:
    """What is asked about an arm that nothing takes, with the ways in which it can degrade."""
    rows = {kind: Decision("degrade", "", "", {"as": kind}) for kind in _ARMS}
    kinds = [kind for kind, row in rows.items() if arm_fault(schemas, leaf, target, row) is None]
    more = f"; it can degrade as {' or '.join(kinds)}" if kinds else ""
    return f"no arm of the other side takes it{more}"


def arm_fault(
    schemas: tuple[Schema, Schema], leaf: Type, target: Type, decision: Decision
) -> str | None:
    """Why a row cannot work for an arm of the source that becomes a value of `target`."""
    source, other = schemas
    if decision.action == "rename":
        to = decision.values["to"]
        return None if accepts(other, target, to) else f"{to!r} is not a value of the other side"
    if decision.action != "degrade":
        return None
    name = decision.values["as"]
    if name not in _ARMS:
        return f"`{name}` is for members, not for arms"
    needed, made = _ARMS[name]
    struct = struct_of(source, leaf)
    if name == "blocks" and struct is not None:
        return "`blocks` reads an array"
    there = {field.wire for field in struct.fields if field.required} if struct else set[str]()
    if lacking := [wire for wire in needed if wire not in there]:
        return f"`{name}` reads {', '.join(lacking)}, which it need not have"
    if made is not None and not accepts(other, target, made):
        return f"the other side does not take the {made!r} that comes of it"
    return None


def member_fault(s: Struct, t: Struct, decision: Decision) -> str | None:
    """Why a row cannot work for a member of `s` that becomes `t`."""
    if decision.action != "degrade":
        return None
    name = decision.values["as"]
    if name not in _MEMBERS:
        return f"`{name}` is for arms of unions, not for members"
    for wire in _MEMBERS[name]:
        for struct in (s, t):
            member = struct.field(wire)
            if member is None or not member.required:
                return f"`{name}` reads {struct.name}.{wire}, which is not there or not required"
    return None


def default_fault(schema: Schema, type: Type, decision: Decision) -> str | None:
    """Why the value of a default, or the name of the revision, is none of `type`."""
    name = {"value": schema.revision} if decision.values.get("context") == "revision" else {}
    known = {**name, **decision.values}
    if "value" not in known or accepts(schema, type, known["value"]):
        return None
    return f"{known['value']!r} is not a value of that member"
