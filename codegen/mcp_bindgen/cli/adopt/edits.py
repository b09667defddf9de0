"""Changes the text of a module at places of its syntax tree; every other character stays."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO

__all__ = ["Edit", "apply_edits", "at", "rename"]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the text between two places: lines from 1, columns in bytes of UTF-8."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def at(node: ast.expr | ast.keyword | ast.alias, text: str) -> Edit:
    """Replace a node."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Edit((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset), text)


def rename(attribute: ast.Attribute, name: str) -> Edit:
    """Replace the name behind the last dot of an attribute."""
    assert attribute.end_lineno is not None
    assert attribute.end_col_offset is not None
    end = attribute.end_lineno, attribute.end_col_offset
    return Edit((end[0], end[1] - len(attribute.attr.encode())), end, name)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits, which must not overlap."""
    lines = [line.encode() for line in StringIO(text, newline="")]
    for edit in sorted(edits, reverse=True):
        (first, start), (last, end) = edit.start, edit.end
        head, tail = lines[first - 1][:start], lines[last - 1][end:]
        lines[first - 1 : last] = [head + edit.text.encode() + tail]
    return b"".join(lines).decode()
