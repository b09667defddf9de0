"""Validates whole values by the JSON Schemas of tools, for keywords which types cannot express."""

from __future__ import annotations

from typing import Any, Final

from mcp_bindgen.compare.judge.witness import Side, Witness
from mcp_bindgen.tools.surface import Surface
from mcp_bindgen.tools.validator import UndecidedError, Validator

__all__ = ["ExactTools"]

_PARTS: Final = {"result": "output"}


class ExactTools:
    """Tells whether a tool of one side accepts a call, or may return a result."""

    def __init__(self, old: Surface, new: Surface) -> None:
        self._surfaces: dict[Side, Surface] = {"old": old, "new": new}
        self._partial: dict[Side, frozenset[tuple[str, str]]] = {
            side: frozenset((remark.tool, remark.part) for remark in surface.reader.unread.values())
            for side, surface in self._surfaces.items()
        }
        self._validators: dict[tuple[Side, str, str], Validator] = {}

    def leaves_out(self, side: Side, method: str, part: str) -> bool:
        """Return whether a keyword of the schema is not read."""
        return (method, _PARTS.get(part, "input")) in self._partial[side]

    def accepts(self, side: Side, witness: Witness) -> bool | None:
        """Return whether the side's schema accepts the message's value, or None if undecided."""
        part = _PARTS.get(witness.part, "input")
        if (witness.method, part) not in self._partial[side]:
            return True
        try:
            return self._validator(side, witness.method, part).accepts(_subject(witness))
        except UndecidedError:
            return None

    def _validator(self, side: Side, tool: str, part: str) -> Validator:
        key = side, tool, part
        if key not in self._validators:
            schema = self._surfaces[side].schemas[tool, part]
            self._validators[key] = Validator(schema)
        return self._validators[key]


def _subject(witness: Witness) -> Any:
    """The part of the message described by the tool's schema."""
    if witness.part == "result":
        return witness.message["result"].get("structuredContent")
    return witness.message["params"]["arguments"]
