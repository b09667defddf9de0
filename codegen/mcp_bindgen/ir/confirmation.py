"""Answers of the revision before that a successor confirms: its name added to the rows' lists."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final

__all__ = ["Confirmation", "as_diff", "confirmed"]

_REVISIONS: Final = re.compile(r"^(\s*revisions\s*=\s*\[[^\]]*?)(,?\s*)\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A row, by its line, that answers for `revision` too."""

    kind: str
    path: str
    revision: str
    line: int


def confirmed(text: str, rows: Iterable[Confirmation]) -> str:
    """The text of decisions.toml with each revision in the list of its row."""
    lines = text.splitlines(keepends=True)
    for row in rows:
        rest = "".join(lines[row.line - 1 :])
        rest = _REVISIONS.sub(rf'\g<1>, "{row.revision}"\g<2>]', rest, count=1)
        lines[row.line - 1 :] = rest.splitlines(keepends=True)
    return "".join(lines)


def as_diff(source: str, text: str, rows: Iterable[Confirmation]) -> str:
    """That edit as a patch, each hunk with the row that it is for."""
    old, new = text.splitlines(keepends=True), confirmed(text, rows).splitlines(keepends=True)
    return "".join(unified_diff(old, new, f"a/{source}", f"b/{source}", n=1)).rstrip("\n")
