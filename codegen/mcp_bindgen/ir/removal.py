"""Takes a revision out of the text of decisions.toml: its rows, its pairs, its place in lists."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from mcp_bindgen.errors import DecisionError

__all__ = ["without"]

_HEAD: Final = re.compile(r"^\[\[\w+\]\]", re.MULTILINE)


def without(text: str, revision: str) -> str:
    """The text without the revision. Raises DecisionError where `[handlers]` names it."""
    if tomllib.loads(text).get("handlers", {}).get("revision") == revision:
        raise DecisionError(
            f"decisions.toml: handlers are written against {revision}",
            remedy="Name another revision in [handlers] first, or take that table out.",
        )
    return "".join(_parts(text, revision))


def _parts(text: str, revision: str) -> Iterator[str]:
    """What stands before the first row, then each row with what follows it."""
    starts = [head.start() for head in _HEAD.finditer(text)]
    yield text[: starts[0]] if starts else text
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
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
    """How far a row goes, with the empty line after it: comments after that are of what follows."""
    end = part.find("\n\n")
    return len(part) if end < 0 else end + 2
