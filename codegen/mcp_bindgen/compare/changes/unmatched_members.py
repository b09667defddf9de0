"""Finds the change for a member declared by only one of two compared structs."""

from __future__ import annotations

from dataclasses import replace

from mcp_bindgen.compare.changes.assignable import Relation
from mcp_bindgen.compare.changes.change import NOTHING, Change, Place, Spot
from mcp_bindgen.ir.envelopes import ENVELOPE_MEMBERS, envelopes
from mcp_bindgen.ir.export.typescript import shape_text
from mcp_bindgen.ir.model import Field, Struct
from mcp_bindgen.ir.values.unlisted import types_of

__all__ = ["OneSided", "default_note"]


def default_note(field: Field) -> str:
    """A note about the default of an added required member; "" for any other member."""
    if not field.required or field.default is None:
        return ""
    return f"it has a default, {field.default}: readers that fill it in still take old messages"


class OneSided:
    """Finds the changes for members declared by the writer's structs and not by the reader's.

    `what` is "removed" if the writer is the old schema, "added" if it is the new one.
    """

    def __init__(self, relation: Relation, what: str) -> None:
        self.relation, self.what = relation, what
        self.side = relation.writer

    def change(self, at: Place, field: Field, other: Struct) -> Change:
        """The change for a member missing in the struct `other`."""
        key = ("member", self.what, self._member_kind(field, other))
        if self._is_envelope(at, field, other):
            key = ("envelope", self.what, "given" if field.const is None else "const")
        spot = Spot(shape_text(self.side, field.type), field.type, field.at)
        here = at.below(field.wire)
        if self.what == "removed":
            return here.change(key, spot)
        return replace(here.change(key, NOTHING, spot), note=default_note(field))

    def _member_kind(self, field: Field, other: Struct) -> str:
        types = types_of(other, field.wire)
        refused = not all(self.relation.holds(field.type, type) for type in types)
        if field.required:
            alone = "required" if field.const is None else "const"
            return "required closed" if refused else alone
        return "closed" if refused else "optional"

    def _is_envelope(self, at: Place, field: Field, other: Struct) -> bool:
        """Return whether the other side's envelope has the member on the wire anyway."""
        if field.wire not in ENVELOPE_MEMBERS or other.field("method") is None:
            return False
        around = envelopes(self.relation.reader).values()
        owner = at.owner[1 if self.what == "removed" else 0] if at.owner else ""
        return all(owner != struct.name for struct in around) and any(
            (twin := struct.field(field.wire)) is not None and twin.required
            for struct in around
            if struct.field("method")
        )
