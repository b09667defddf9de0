"""A report as annotations of a GitHub workflow: one for each cause which breaks somebody.

GitHub shows few annotations for a step, so harmless changes are one notice with counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Severity
from mcp_bindgen.compare.report import words
from mcp_bindgen.compare.report.grouping import Item, sections
from mcp_bindgen.compare.report.report import Report, Side
from mcp_bindgen.errors import count_of

__all__ = ["workflow_commands"]

_COMMANDS: Final[dict[Severity, str]] = {"breaking": "error", "dangerous": "warning"}
_ESCAPES: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_IN_VALUES: Final = (*_ESCAPES, (":", "%3A"), (",", "%2C"))


def workflow_commands(report: Report) -> str:
    """The commands, worst first; placed in the new file, or in the old one for removals."""
    lines = list(_lines(report))
    return "\n".join(lines) + "\n" * bool(lines)


def _lines(report: Report) -> Iterator[str]:
    items = [item for section in sections(report, _COMMANDS) for item in section.items]
    for item in sorted(items, key=lambda item: SEVERITIES.index(report.severity(item.first))):
        place = "".join(
            f"{key}={_escape(value, _IN_VALUES)}," for key, value in _place(report, item)
        )
        command = _COMMANDS[report.severity(item.first)]
        title = _escape(f"{item.first.rule.id} {words.paths(item.findings)}", _IN_VALUES)
        yield f"::{command} {place}title={title}::{_escape(_message(report, item), _ESCAPES)}"
    counts = {kind: report.count(kind) for kind in SEVERITIES if kind not in _COMMANDS}
    left = [count_of(count, f"{kind} change") for kind, count in counts.items() if count]
    sides = _escape(f"{report.old.name} to {report.new.name}", _ESCAPES)
    if left:
        yield f"::notice::{sides}: {', '.join(left)}"
    if not report.findings:
        yield f"::notice::No changes from {sides}"


def _place(report: Report, item: Item) -> Iterator[tuple[str, str]]:
    """The place in a file of the repository; bundled files have none."""
    new, old = item.first.change.new.at, item.first.change.old.at
    side, at = (report.new, new) if new is not None else (report.old, old)
    if at is not None and side.own_file:
        path, line, column = _split(side, at)
        yield from (("file", path), ("line", line), ("col", column))


def _split(side: Side, at: int) -> tuple[str, str, str]:
    path, line, column = side.place(at).rsplit(":", 2)
    return path, line, column


def _message(report: Report, item: Item) -> str:
    finding = item.first
    parts = [words.arrow(item.findings), words.breaks(report, finding), finding.rule.why]
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def _escape(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    for character, escape in escapes:
        text = text.replace(character, escape)
    return text
