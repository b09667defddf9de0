"""Parses a docstring: its description, and a sentence for each parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Final

from msgspec import Struct

_PARAMETERS: Final = frozenset(("args", "arguments", "parameters", "params"))
_SECTION: Final = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns?|Raises|Yields)\s*:\s*$", re.IGNORECASE
)
_FIELD: Final = re.compile(r":(param|type|return|returns|rtype|raise|raises)\b([^:\n]*):[ \t]*(.*)")
_ITEM: Final = re.compile(r"[-*•]\s")
_ENTRY: Final = re.compile(r"(?:[-*•]\s+)?[*`]{0,2}(\w+)[*`]{0,2}\s*(?:\([^)]*\))?\s*:\s*(.*)")


class ParsedDocstring(Struct, frozen=True):
    description: str
    parameters: dict[str, str]


def parse_docstring(text: str | None) -> ParsedDocstring:
    """Read Google's style (`Args:` sections) and reStructuredText fields (`:param x: …`).

    All text outside of sections and fields is the description, including text below them.
    """
    blocks: list[list[str]] = [[]]
    for line in cleandoc(text or "").splitlines():
        if _begins(line, blocks[-1]):
            blocks.append([])
        blocks[-1].append(line)
    prose = ("\n".join(block).strip() for block in blocks if not _is_apart(block))
    lines = [line for block in blocks if _is_apart(block) for line in block]
    entries = (*_in_sections(lines), *_in_fields(lines))
    parameters = {name: " ".join(words) for name, words in entries if any(words)}
    return ParsedDocstring("\n\n".join(filter(None, prose)), parameters)


def _begins(line: str, block: list[str]) -> bool:
    """Return True if a line begins a section or a field, or text below one."""
    is_indented = not line[:1].strip()
    return _is_apart([line]) or (_is_apart(block) and not (is_indented or _ITEM.match(line)))


def _is_apart(block: list[str]) -> bool:
    return bool(block and (_SECTION.match(block[0]) or _FIELD.match(block[0])))


def _in_sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the entries under `Args:`; a line indented deeper continues the entry above it.

    A list item continues the entry, too, unless the entries themselves are list items.
    """
    within, depth, are_items = False, -1, False
    words: list[str] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent == 0 and not _ITEM.match(line):
            section = _SECTION.match(line)
            within, depth = bool(section and section[1].lower() in _PARAMETERS), -1
        elif within and line.strip():
            is_item = bool(_ITEM.match(line.strip()))
            if depth < 0:
                depth, are_items = indent, is_item
            is_entry = indent <= depth and (are_items or not is_item)
            entry = _ENTRY.match(line.strip()) if is_entry else None
            if entry:
                words = [entry[2]] if entry[2] else []
                yield entry[1], words
            else:
                words.append(line.strip())


def _in_fields(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """`:param x:` and `:param int x:`; an indented line continues the field above it."""
    words: list[str] = []
    for line in lines:
        field = _FIELD.match(line)
        if field:
            words = [field[3]] if field[3] else []
            names = field[2].split()
            if field[1] == "param" and names:
                yield names[-1], words
        elif line[:1].isspace() and line.strip():
            words.append(line.strip())
