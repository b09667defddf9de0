"""What the types do not say of the schemas of tools: keywords as text, by place and keyword."""

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
    """A keyword that the type at a place does not say, and its value as canonical JSON.

    `context` is all else that its meaning depends on: the schemas that it refers to, and keywords
    beside it. `part` of the tool is input, output, or nothing for what is beside its schemas.
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
    """Adds a remark; where several schemas use a keyword at one place, each of them counts."""
    before = remarks.get((id, said.keyword))
    if before is not None:
        value = _joined(before.value, said.value)
        said = replace(said, value=value, context=_joined(before.context, said.context))
    remarks[id, said.keyword] = said


def _joined(before: str, text: str) -> str:
    """Both texts, each once, in an order that does not depend on which came first."""
    return _AND.join(sorted({*before.split(_AND), text} - {""}))


def at_keyword(node: Node, keyword: str) -> int:
    """The byte offset of a keyword's value, or of the schema where that is not known."""
    return node.below(keyword).at if keyword in node.members else node.at
