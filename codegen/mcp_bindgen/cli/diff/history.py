"""`mcp-bindgen diff --history`: shows in which revision each declaration came, changed and left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from mcp_bindgen.cli.show import columns, heading, safe

if TYPE_CHECKING:
    from mcp_bindgen.compare.report.history import Cell, History, Row

__all__ = ["FORMATS"]

_Cells: TypeAlias = tuple[str, str, str]
"""A finding: severity, path, rule."""
_KEY: Final = (
    "● there and unchanged, ○ written inline; else what is new, gone, or the worst of what changed "
    "against the revision before"
)
_TITLES: Final = {"method": "Methods", "declaration": "Declarations", "constant": "Constants"}
_WORDS: Final = {"came": "new", "gone": "gone", "absent": ""}


def _mark(cell: Cell) -> str:
    if cell.state in _WORDS:
        return _WORDS[cell.state]
    return cell.severity() or ("○" if cell.inline else "●")


def _closely(history: History, names: Sequence[str]) -> Iterator[tuple[Row, tuple[Row, ...]]]:
    """The requested rows, each with the rows of its members."""
    from mcp_bindgen.compare.report.history import members, related_rows

    asked = [row for name in names for row in related_rows(history, history.row(name))]
    for row in {(row.kind, row.name): row for row in asked}.values():
        yield row, members(history, row)


def _changes(history: History, row: Row) -> Iterator[tuple[str, list[_Cells]]]:
    """For each pair of neighbours, the findings about the row, worst first."""
    from mcp_bindgen.compare.judge.verdicts import SEVERITIES

    for report, cell in zip(history.reports, row.cells[1:], strict=True):
        ranked = sorted(cell.findings, key=lambda f: SEVERITIES.index(f.severity))
        rows: list[_Cells] = [(f.severity, f.change.path, f.rule.id) for f in ranked]
        if rows:
            yield f"{report.old.name} → {report.new.name}", rows


# ---- text


def _text(history: History, names: Sequence[str]) -> str:
    lines = _asked_text(history, names) if names else _whole_text(history)
    return "\n".join((*lines, safe(_KEY)))


def _whole_text(history: History) -> Iterator[str]:
    for kind, rows in groupby(history.rows, lambda row: row.kind):
        yield from heading(_TITLES[kind])
        yield from _matrix(history, list(rows))
        yield ""


def _asked_text(history: History, names: Sequence[str]) -> Iterator[str]:
    for row, inner in _closely(history, names):
        yield from heading(f"{row.name} ({row.kind})")
        yield from _matrix(history, [row, *inner])
        for pair, findings in _changes(history, row):
            yield ""
            yield from heading(pair)
            yield from columns(findings)
        yield ""


def _matrix(history: History, rows: Sequence[Row]) -> Iterator[str]:
    head = ("", *(side.name for side in history.sides))
    return columns([head, *((row.name, *map(_mark, row.cells)) for row in rows)])


# ---- Markdown


def _markdown(history: History, names: Sequence[str]) -> str:
    lines = _asked_markdown(history, names) if names else _whole_markdown(history)
    return "\n".join((*lines, _KEY))


def _whole_markdown(history: History) -> Iterator[str]:
    for kind, rows in groupby(history.rows, lambda row: row.kind):
        yield f"## {_TITLES[kind]}"
        yield from _table(history, list(rows))


def _asked_markdown(history: History, names: Sequence[str]) -> Iterator[str]:
    for row, inner in _closely(history, names):
        yield f"## {_code(row.name)} ({row.kind})"
        yield from _table(history, [row, *inner])
        for pair, findings in _changes(history, row):
            yield from (f"### {_plain(pair)}", "")
            yield from (f"- {severity}: {_code(path)} {rule}" for severity, path, rule in findings)
            yield ""


def _table(history: History, rows: Sequence[Row]) -> Iterator[str]:
    names = [_plain(side.name) for side in history.sides]
    yield ""
    yield f"| | {' | '.join(names)} |"
    yield f"| --- |{' --- |' * len(names)}"
    for row in rows:
        yield f"| {_code(row.name)} | {' | '.join(map(_mark, row.cells))} |"
    yield ""


def _code(text: str) -> str:
    """A name as code of Markdown, with `|` escaped for tables."""
    return f"`{safe(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _plain(text: str) -> str:
    return safe(text).replace("|", "\\|").replace("<", "&lt;")


# ---- JSON


def _json(history: History, names: Sequence[str]) -> str:
    from mcp_bindgen.compare.report.history import document

    return json.dumps(document(history, names), indent=2, ensure_ascii=False)


_Format: TypeAlias = Callable[["History", Sequence[str]], str]
FORMATS: Final[dict[str, _Format]] = {"text": _text, "json": _json, "markdown": _markdown}
