"""Parses a docstring: its description, and a sentence for each parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import Final

from msgspec import Struct

_PARAMETERS: Final = frozenset(("args", "arguments", "parameters", "params"))

# Patterns are texts, which `re` compiles at their first use: most docstrings have no colon.
_SECTION: Final = r"(?i:(Args|Arguments|Parameters|Params|Returns?|Raises|Yields))\s*:\s*$"
_FIELD: Final = r":(param|type|return|returns|rtype|raise|raises)\b([^:\n]*):[ \t]*(.*)"
_ITEM: Final = r"[-*•]\s"
_ENTRY: Final = r"(?:[-*•]\s+)?[*`]{0,2}(\w+)[*`]{0,2}\s*(?:\([^)]*\))?\s*:\s*(.*)"


class ParsedDocstring(Struct, frozen=True):
    description: str
    parameters: dict[str, str]


def parse_docstring(text: str | None) -> ParsedDocstring:
    """Read Google's style (`Args:` sections) and reStructuredText fields (`:param x: …`).

    All text outside of sections and fields is the description, including text below them.
    """
    whole = cleandoc(text or "")
    if ":" not in whole:
        return ParsedDocstring("\n".join(whole.splitlines()).strip(), {})
    blocks: list[list[str]] = [[]]
    for line in whole.splitlines():
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
    return _is_apart([line]) or (_is_apart(block) and not (is_indented or re.match(_ITEM, line)))


def _is_apart(block: list[str]) -> bool:
    return bool(block and (re.match(_SECTION, block[0]) or re.match(_FIELD, block[0])))


def _in_sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the entries under `Args:`; a line indented deeper continues the entry above it.

    A list item continues the entry, too, unless the entries themselves are list items.
    """
    within, depth, are_items = False, -1, False
    words: list[str] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent == 0 and not re.match(_ITEM, line):
            section = re.match(_SECTION, line)
            within, depth = bool(section and section[1].lower() in _PARAMETERS), -1
        elif within and line.strip():
            is_item = bool(re.match(_ITEM, line.strip()))
            if depth < 0:
                depth, are_items = indent, is_item
            is_entry = indent <= depth and (are_items or not is_item)
            entry = re.match(_ENTRY, line.strip()) if is_entry else None
            if entry:
                words = [entry[2]] if entry[2] else []
                yield entry[1], words
            else:
                words.append(line.strip())


def _in_fields(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """`:param x:` and `:param int x:`; an indented line continues the field above it."""
    words: list[str] = []
    for line in lines:
        field = re.match(_FIELD, line)
        if field:
            words = [field[3]] if field[3] else []
            names = field[2].split()
            if field[1] == "param" and names:
                yield names[-1], words
        elif line[:1].isspace() and line.strip():
            words.append(line.strip())
