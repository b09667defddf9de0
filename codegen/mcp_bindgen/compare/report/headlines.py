"""The news of a report in at most five lines: removals, new requirements, additions.

Beside methods, news are the arms that begin or cease to travel, capabilities, members of results
and error codes with other numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.compare.report.words import few
from mcp_bindgen.ir.envelopes import envelopes
from mcp_bindgen.ir.model import Ref, Type, Uni

__all__ = ["headlines"]

_MOST: Final = 5
_NAMES: Final = 6
_FEW: Final = 4
"""Names in a line which shares its place with another."""
_CAPABILITIES: Final = ("ServerCapabilities", "ClientCapabilities")
_MEMBERS: Final = frozenset(("MEMBER_ADDED_OPTIONAL", "MEMBER_ADDED_CLOSED"))
_DEMANDS: Final = frozenset(
    ("MEMBER_ADDED_REQUIRED", "MEMBER_ADDED_CONST", "MEMBER_BECAME_REQUIRED")
)
_LISTED: Final = ("METHOD", "TOOL", "PROMPT", "RESOURCE", "TEMPLATE")
_OPENS: Final = "initialize"
"""Prefix of the last part of methods which open a session by handshake."""


def headlines(report: Report) -> list[str]:
    """The lines, most important first."""
    return list(islice((line for line in _lines(report) if line), _MOST))


def _lines(report: Report) -> Iterator[str]:
    removed = _name(report, *(f"{subject}_REMOVED" for subject in _LISTED))
    added = _name(report, *(f"{subject}_ADDED" for subject in _LISTED))
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
    deprecated = _line("Deprecated", _deprecations(report), _FEW)
    yield "; ".join(filter(None, (new, deprecated)))
    arms = _line("Also travels", _arms(report, "added"))
    gone = _line("Travels no longer", _arms(report, "removed"))
    yield "; ".join(filter(None, (arms, gone)))
    yield "; ".join(
        filter(
            None,
            (
                _line("Capabilities", _capabilities(report)),
                _line("New in results", _news_of_results(report)),
            ),
        )
    )
    yield _line("Other error codes", _codes(report))


def _line(title: str, names: Iterable[str], most: int = _NAMES) -> str:
    listed = few(names, most)
    return f"{title}: {listed}" if listed else ""


def _arms(report: Report, what: str) -> list[str]:
    """The types of union arms that messages have on one side alone, with the number of methods."""
    methods: dict[str, set[str]] = {}
    around = [envelopes(side.schema) for side in (report.old, report.new)]
    names = {side[role].name for role in around[0].keys() & around[1] for side in around}
    for finding in report.findings:
        spot = finding.change.new if what == "added" else finding.change.old
        if finding.change.key[:2] == ("arm", what) and finding.routes and spot.type:
            for arm in _names_of(spot.type):
                if arm in names:  # only called otherwise, as both sides have that envelope
                    continue
                methods.setdefault(arm, set()).update(finding.methods)
    return [f"{arm} ({_methods(len(of))})" if of else arm for arm, of in methods.items()]


def _names_of(type: Type) -> list[str]:
    arms = type.arms if isinstance(type, Uni) else (type,)
    return [arm.name for arm in arms if isinstance(arm, Ref)]


def _capabilities(report: Report) -> list[str]:
    """The capabilities that one side alone declares, after `+` or `-`."""
    signs = {"added": "+", "removed": "-"}
    return [
        f"{signs[finding.change.key[1]]}{'.'.join(finding.change.path.split('.')[1:])}"
        for finding in report.findings
        if finding.change.key[0] == "member" and finding.change.key[1] in signs
        if finding.change.path.partition(".")[0] in _CAPABILITIES
    ]


def _news_of_results(report: Report) -> list[str]:
    """The new members of results, of the types with most methods first."""
    members = [
        finding
        for finding in report.findings
        if finding.rule.id in _MEMBERS
        and finding.change.path.partition(".")[0] not in _CAPABILITIES
        if any(route.kind == "result" for route in finding.routes)
    ]
    by_name: dict[str, list[Finding]] = {}
    for finding in members:
        by_name.setdefault(finding.change.path.rpartition(".")[2], []).append(finding)
    ranked = sorted(by_name.values(), key=lambda each: -_count(each))
    return [_whose(findings) for findings in ranked]


def _codes(report: Report) -> list[str]:
    """The errors whose code is another number: a constant of one name, or one method's."""
    changes = [f.change for f in report.findings if f.rule.id == "ERROR_CODE_CHANGED"]
    return [f"{change.path} {change.old.text} → {change.new.text}" for change in changes]


def _name(report: Report, *rules: str) -> list[str]:
    return [finding.change.path for finding in report.findings if finding.rule.id in rules]


def _deprecations(report: Report) -> list[str]:
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
