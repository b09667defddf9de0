"""A report as annotations of a GitHub workflow, one line a finding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_bindgen.compare.judge.verdicts import Finding, Severity
from mcp_bindgen.compare.report import grouping
from mcp_bindgen.compare.report.report import Report, Side

__all__ = ["workflow_commands"]

_COMMANDS: Final[dict[Severity, str]] = {
    "breaking": "error",
    "dangerous": "warning",
    "compatible": "notice",
    "docs": "notice",
}
_ESCAPES: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_IN_VALUES: Final = (*_ESCAPES, (":", "%3A"), (",", "%2C"))


def workflow_commands(report: Report) -> str:
    """The commands, worst first; the place is in the new file, of what is gone in the old one."""
    lines = list(_lines(report))
    return "\n".join(lines) + "\n" * bool(lines)


def _lines(report: Report) -> Iterator[str]:
    for finding in report.worst_first():
        place = "".join(
            f"{key}={_escaped(value, _IN_VALUES)}," for key, value in _place(report, finding)
        )
        command = _COMMANDS[report.severity(finding)]
        title = _escaped(f"{finding.rule.id} {finding.change.path}", _IN_VALUES)
        yield f"::{command} {place}title={title}::{_escaped(_message(report, finding), _ESCAPES)}"
    if not report.findings:
        yield f"::notice::No changes from {report.old.name} to {report.new.name}"


def _place(report: Report, finding: Finding) -> Iterator[tuple[str, str]]:
    new, old = finding.change.new.at, finding.change.old.at
    side, at = (report.new, new) if new is not None else (report.old, old)
    if at is not None:
        path, line, column = _split(side, at)
        yield from (("file", path), ("line", line), ("col", column))


def _split(side: Side, at: int) -> tuple[str, str, str]:
    path, line, column = side.place(at).rsplit(":", 2)
    return path, line, column


def _message(report: Report, finding: Finding) -> str:
    parts = [
        grouping.arrow(grouping.Item((finding,))),
        grouping.breaks(report, finding),
        finding.rule.why,
    ]
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def _escaped(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    for character, escape in escapes:
        text = text.replace(character, escape)
    return text
