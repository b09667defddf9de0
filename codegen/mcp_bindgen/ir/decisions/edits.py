"""Edits the text of decisions.toml: a revision is added to rows, or taken out of them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from itertools import pairwise
from typing import Any, Final

from mcp_bindgen.errors import DecisionError

__all__ = ["Confirmation", "add_confirmations", "as_diff", "without"]

_REVISIONS: Final = re.compile(r"^(\s*revisions\s*=\s*\[[^\]]*?)(,?\s*)\]", re.MULTILINE)
_HEAD: Final = re.compile(r"^\[\[\w+\]\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A row, by its line, to be extended to `revision`."""

    kind: str
    path: str
    revision: str
    line: int


def add_confirmations(text: str, rows: Iterable[Confirmation]) -> str:
    """The text of decisions.toml with each revision in the list of its row."""
    lines = text.splitlines(keepends=True)
    for row in rows:
        rest = "".join(lines[row.line - 1 :])
        rest = _REVISIONS.sub(rf'\g<1>, "{row.revision}"\g<2>]', rest, count=1)
        lines[row.line - 1 :] = rest.splitlines(keepends=True)
    return "".join(lines)


def as_diff(source: str, text: str, rows: Iterable[Confirmation]) -> str:
    """The same edit as a patch, each hunk with its row."""
    old, new = (
        text.splitlines(keepends=True),
        add_confirmations(text, rows).splitlines(keepends=True),
    )
    return "".join(unified_diff(old, new, f"a/{source}", f"b/{source}", n=1)).rstrip("\n")


def without(text: str, revision: str) -> str:
    """The text without the revision. Raises DecisionError where `[handlers]` names it."""
    if tomllib.loads(text).get("handlers", {}).get("revision") == revision:
        raise DecisionError(
            f"decisions.toml: handlers are written against {revision}",
            remedy="Name another revision in [handlers] first, or take that table out.",
        )
    return "".join(_parts(text, revision))


def _parts(text: str, revision: str) -> Iterator[str]:
    """The text before the first row, then each row with the text after it."""
    starts = [head.start() for head in _HEAD.finditer(text)]
    yield text[: starts[0]] if starts else text
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        row = _row(part)
        if revision in row.get("pair", "").split("..") or row.get("revisions") == [revision]:
            yield part[_length(part) :]
        elif revision in row.get("revisions", ()):
            yield re.sub(rf'("{revision}",\s*)|(,\s*"{revision}")', "", part, count=1)
        else:
            yield part


def _row(part: str) -> dict[str, Any]:
    (rows,) = tomllib.loads(part).values()
    row: dict[str, Any] = rows[0]
    return row


def _length(part: str) -> int:
    """The length of a row with the empty line after it: later comments belong to the next row."""
    end = part.find("\n\n")
    return len(part) if end < 0 else end + 2
