"""The text of one declaration, with the comments above it."""

from __future__ import annotations

import mcp_bindgen.source.syntax as syntax
from mcp_bindgen.source.text import Source

__all__ = ["excerpt"]

_BLANK = b" \t\n"


def excerpt(source: Source, module: syntax.Module, name: str) -> str:
    """The declaration called `name`, from its first comment to its last character."""
    declarations = module.declarations
    number = next(i for i, declaration in enumerate(declarations) if declaration.name == name)
    start = _head(source, declarations[number].at)
    last = number + 1 == len(declarations)
    end = _head(source, len(source.data) if last else declarations[number + 1].at)
    return source.slice(start, end).strip()


def _head(source: Source, at: int) -> int:
    """The offset of the first comment above byte `at` which has its lines to itself."""
    head = at
    while True:
        code = head
        while code and source.data[code - 1] in _BLANK:
            code -= 1
        start = source.comments.get(code)
        if start is None:
            return head
        line = source.data.rfind(b"\n", 0, start) + 1
        if source.data[line:start].strip():
            return head
        head = start
