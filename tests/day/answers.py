"""The sheet of a new revision's questions: written for a person, and read back as rows.

A sheet is TOML. Each question is a comment above the row that answers it; a row is answered when no
text in it is empty. `confirm` says that older answers still hold.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

__all__ = ["NOTHING", "Key", "Questions", "Sheet", "questions", "read", "rows_of", "sheet"]

_ADD: Final = "Add, with your answers:"
_CONFIRM: Final = "What these rows answer"
_IDLE: Final = "So far nothing asks for these rows:"
_HEAD: Final = re.compile(r"(?m)^(?=\[\[)")

Key = tuple[str, str, str]
"""Kind, pair or revisions, and path of a row."""


@dataclass(frozen=True, slots=True)
class Questions:
    """`rows` are the questions, each with the row to answer it; `confirm` is the edit that adds the
    revision to older answers, empty if none waits.
    """

    rows: tuple[str, ...]
    confirm: str = ""
    idle: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """`answered` are the texts of complete rows by key, `open` those of the others."""

    answered: Mapping[Key, str]
    open: Mapping[Key, str]
    confirm: bool


def questions(said: str) -> Questions:
    """The questions in the standard error of `mcp-bindgen generate`; none in any other text."""
    parts = {head: _part(said, head) for head in (_ADD, _IDLE, _CONFIRM)}
    rows = (block.strip() for block in parts[_ADD].split("\n\n"))
    return Questions(
        tuple(row for row in rows if row.startswith("#")),
        parts[_CONFIRM].strip(),
        parts[_IDLE].strip(),
    )


def _part(said: str, head: str) -> str:
    """The text from a heading to the next one; empty if the heading is missing."""
    start = said.find(head)
    ends = [end for other in (_ADD, _IDLE, _CONFIRM) if (end := said.find(other)) > start]
    return "" if start < 0 else said[start : min(ends, default=len(said))]


NOTHING: Final = Sheet({}, {}, confirm=False)


def sheet(asked: Questions, revision: str, known: Sheet = NOTHING) -> str:
    """The text of a sheet with these questions; what is begun in the sheet `known` stays."""
    lines = [
        f"# Questions about {revision}. Answer each in its row: fill in every empty text.",
        "# `page` is the page of the protocol that says so, `why` one sentence for users.",
    ]
    if asked.confirm:
        lines += ["", *(f"# {line}".rstrip() for line in asked.confirm.splitlines())]
        lines += ["# Set this to true if they do.", f"confirm = {str(known.confirm).lower()}"]
    if asked.idle:
        lines += ["", *(f"# {line}" for line in asked.idle.splitlines())]
    return "\n\n".join(["\n".join(lines), *(_begun(row, known) for row in asked.rows)]) + "\n"


def _begun(row: str, known: Sheet) -> str:
    """A question with its row as `known` has it, else as it is asked."""
    question = [line for line in row.splitlines() if line.startswith("#")]
    asked = read(row)
    (key,) = (*asked.open, *asked.answered)
    old = next(
        (
            text
            for k, text in known.open.items()
            if (k[0], k[1]) == key[:2] and k[2].rpartition(" ")[2] == key[2].rpartition(" ")[2]
        ),
        None,
    )
    return row if old is None else "\n".join([*question, old])


def read(text: str) -> Sheet:
    """Read a sheet, or any file of rows. Raises ValueError if it is not TOML."""
    whole = tomllib.loads(text)
    answered: dict[Key, str] = {}
    still_open: dict[Key, str] = {}
    for chunk in _HEAD.split(text)[1:]:
        lines = [line for line in chunk.splitlines() if not line.startswith("#")]
        row = "\n".join(lines).strip()
        ((kind, rows),) = tomllib.loads(row).items()
        values = cast("list[dict[str, Any]]", rows)[0]
        (answered if _is_answered(values) else still_open)[key_of(kind, values)] = row
    return Sheet(answered, still_open, whole.get("confirm") is True)


def key_of(kind: str, values: dict[str, Any]) -> Key:
    where = values.get("pair") or ",".join(values.get("revisions", ()))
    return kind, str(where), f"{_ways(values)}{values.get('path', '')}"


def _ways(values: dict[str, Any]) -> str:
    """The directions that a step row decides: each is a row of its own."""
    return "".join(f"{way} " for way in ("up", "down") if way in values)


def _is_answered(values: dict[str, Any]) -> bool:
    """Return whether no text of a row is empty; a method may need no capability."""
    texts = (v for name, v in values.items() if name not in ("capability", "value", "message"))
    return all(text != "" for text in texts) and all(
        values.get(name) for name in ("path", "page", "why")
    )


def rows_of(text: str) -> Iterator[Key]:
    """The keys of the rows in decisions.toml."""
    for kind, rows in tomllib.loads(text).items():
        if isinstance(rows, list):
            for values in cast("list[dict[str, Any]]", rows):
                yield key_of(kind, values)
