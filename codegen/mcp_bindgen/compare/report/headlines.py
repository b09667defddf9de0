"""The news of a report in at most five lines: removals, new requirements, additions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.compare.report.words import few

__all__ = ["headlines"]

_MOST: Final = 5
_NAMES: Final = 6
_DEMANDS: Final = frozenset(
    ("MEMBER_ADDED_REQUIRED", "MEMBER_ADDED_CONST", "MEMBER_BECAME_REQUIRED")
)
_OPENS: Final = "initialize"
"""Prefix of the last part of methods which open a session by handshake."""


def headlines(report: Report) -> list[str]:
    """The lines, most important first."""
    return list(islice((line for line in _lines(report) if line), _MOST))


def _lines(report: Report) -> Iterator[str]:
    removed = _name(report, "METHOD_REMOVED", "TOOL_REMOVED")
    added = _name(report, "METHOD_ADDED", "TOOL_ADDED")
    handshake = (removed, "is gone") if report.old.schema.era == "handshake" else (added, "is new")
    opening: list[str] = []
    if report.old.schema.era != report.new.schema.era:
        names, what = handshake
        opening = [name for name in names if name.rpartition("/")[2].startswith(_OPENS)]
        yield f"The handshake {what}: {few(opening, _NAMES)}"
    yield _line("Now required", _demands(report))
    yield _line("Removed", (name for name in removed if name not in opening))
    yield _line("Sent in another way", _name(report, "METHOD_DIRECTION_CHANGED"))
    new = _line("New", (name for name in added if name not in opening))
    deprecated = _line("Deprecated", _deprecated(report))
    yield "; ".join(filter(None, (new, deprecated)))


def _line(title: str, names: Iterable[str]) -> str:
    listed = few(names, _NAMES)
    return f"{title}: {listed}" if listed else ""


def _name(report: Report, *rules: str) -> list[str]:
    return [finding.change.path for finding in report.findings if finding.rule.id in rules]


def _deprecated(report: Report) -> list[str]:
    """Methods first, by their names, then declarations; members are left to the report."""
    paths = [path for path in _name(report, "DEPRECATED") if "." not in path]
    methods = {m.type: m.name for m in report.new.schema.methods}
    return sorted((methods.get(path, path) for path in paths), key=lambda name: "/" not in name)


def _demands(report: Report) -> list[str]:
    """Newly required members which break a requested audience, those in most messages first."""
    members: dict[str, list[Finding]] = {}
    for finding in report.findings:
        asked = report.severity(finding) in ("breaking", "dangerous")
        if finding.rule.id in _DEMANDS and finding.methods and asked:
            members.setdefault(finding.change.steps[-1], []).append(finding)
    counts = {name: _count(findings) for name, findings in members.items()}
    ranked = sorted(counts, key=lambda name: -counts[name])
    return [f"{_whose(members[name])} ({_methods(counts[name])})" for name in ranked]


def _whose(findings: Sequence[Finding]) -> str:
    """The path of a member; if several declarations have it, its name and their names."""
    paths = list(dict.fromkeys(finding.change.path for finding in findings))
    if len(paths) == 1:
        return paths[0]
    name = findings[0].change.steps[-1]
    owners = dict.fromkeys(path.removesuffix(f".{name}") for path in paths)
    return f"{name.rpartition('/')[2]} of {few(owners, 1)}"


def _count(findings: Iterable[Finding]) -> int:
    """The number of methods whose messages have the findings."""
    return len({name for finding in findings for name in finding.methods})


def _methods(count: int) -> str:
    return f"in {count} methods" if count > 1 else "in one method"
