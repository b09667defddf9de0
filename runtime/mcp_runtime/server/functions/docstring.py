"""Parses a docstring: its description, and a sentence for each parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Final

_PARAMETERS: Final = frozenset(("args", "arguments", "parameters", "params"))
_SECTION: Final = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns?|Raises|Yields)\s*:\s*$", re.IGNORECASE
)
_FIELD: Final = re.compile(r":(param|type|return|returns|rtype|raise|raises)\b([^:\n]*):[ \t]*(.*)")
_ENTRY: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


@dataclass(frozen=True, slots=True)
class ParsedDocstring:
    description: str
    parameters: dict[str, str]


def parse_docstring(text: str | None) -> ParsedDocstring:
    """Reads Google's style (`Args:` sections) and reStructuredText fields (`:param x: …`)."""
    lines = cleandoc(text or "").splitlines()
    end = next((i for i, line in enumerate(lines) if _ends(line)), len(lines))
    description = "\n".join(lines[:end]).strip()
    entries = (*_in_sections(lines[end:]), *_in_fields(lines[end:]))
    parameters = {name: " ".join(words) for name, words in entries if any(words)}
    return ParsedDocstring(description, parameters)


def _ends(line: str) -> bool:
    return bool(_SECTION.match(line) or _FIELD.match(line))


def _in_sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The entries under `Args:`; a line that is indented deeper continues the entry above it."""
    within, depth = False, -1
    words: list[str] = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent == 0:
            section = _SECTION.match(line)
            within, depth = bool(section and section[1].lower() in _PARAMETERS), -1
        elif within and line.strip():
            depth = indent if depth < 0 else depth
            entry = _ENTRY.match(line.strip()) if indent <= depth else None
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
