"""Remarks: the keywords of tool schemas missing in the types, as text by place and keyword."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from mcp_bindgen.tools.json_document import Node
from mcp_bindgen.tools.keywords import canonical

__all__ = ["Remark", "Remarks", "add", "at_keyword", "quoted"]

_AND: Final = " & "
_PLAIN: Final = re.compile(r"[\w$/@:-]+\Z")


@dataclass(frozen=True, slots=True)
class Remark:
    """A keyword missing in the type at a place, and its value as canonical JSON.

    `context` holds everything else its meaning depends on: referenced schemas, and neighbours.
    `part` of the tool is input, output, or empty for members beside the schemas.
    """

    path: str
    keyword: str
    value: str
    at: int
    tool: str
    part: str
    context: str = ""


Remarks: TypeAlias = dict[tuple[str, str], Remark]
"""Remarks by the id of their place and by keyword."""


def quoted(name: str) -> str:
    """A name as a step of an id, which no other name or step can be read as."""
    return name if _PLAIN.match(name) else canonical(name)


def add(remarks: Remarks, id: str, said: Remark) -> None:
    """Add a remark; several remarks on one keyword at one place are joined."""
    before = remarks.get((id, said.keyword))
    if before is not None:
        value = _join(before.value, said.value)
        said = replace(said, value=value, context=_join(before.context, said.context))
    remarks[id, said.keyword] = said


def _join(before: str, text: str) -> str:
    """Both texts without duplicates, in an order independent of their arrival."""
    return _AND.join(sorted({*before.split(_AND), text} - {""}))


def at_keyword(node: Node, keyword: str) -> int:
    """The byte offset of a keyword's value, or of the schema if unknown."""
    return node.below(keyword).at if keyword in node.members else node.at
