"""Members that one of two revisions declares, and the other may have under another name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mcp_bindgen.convert.model import DOWN, UP, Decision
from mcp_bindgen.convert.rows import Rows, paths_of
from mcp_bindgen.ir.model import Field, Schema, Struct

__all__ = ["NEW", "gone", "likely_names", "undeclared"]

_GONE: Final = ("rename", "drop", "keep")
"""What can become of a member on the way up that the newer revision does not declare."""
NEW: Final = ("drop", "rename", "degrade", "compose", "refuse", "keep")
"""What can become of a member on the way down that the older revision does not declare."""


def gone(rows: Rows, old: Struct, new: Struct, member: Field) -> Decision | None:
    """The row of a member that goes up unknown; asked for if it may have another name there."""
    names = tuple(_new_names(rows, old, new, member))
    if not names:
        was_asked = any(likely_names(old, new, member))
        return rows.find(UP, paths_of(old, member), _GONE if was_asked else _GONE[:-1])
    question, place = undeclared(rows.new, names), (rows.old, member.at)
    return rows.demand(UP, paths_of(old, member), _GONE, question, place)


def undeclared(schema: Schema, names: Iterable[str]) -> str:
    """What is asked about a member that `schema` has under one of these names, if at all."""
    listed = "` or `".join(names)
    question = f"{schema.revision} does not declare it"
    return f"{question}; is it `{listed}` there?" if listed else question


def likely_names(s: Struct, t: Struct, member: Field) -> Iterator[str]:
    """The members of its type that `t` alone declares."""
    others = (other for other in t.fields if s.field(other.wire) is None)
    return (other.wire for other in others if other.type == member.type)


def _new_names(rows: Rows, old: Struct, new: Struct, member: Field) -> Iterator[str]:
    """The members of `new` that a row names so, and the likely ones that have no row yet."""
    likely = frozenset(likely_names(old, new, member))
    for other in new.fields:
        row = rows.peek(DOWN, paths_of(new, other), NEW)
        if other.wire in likely if row is None else row.values.get("to") == member.wire:
            yield other.wire
