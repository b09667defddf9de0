"""Groups findings for people: findings of one cause form one item, by method, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Finding, Severity
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.compare.report.words import breaks

__all__ = ["Item", "Section", "sections", "witness"]

_SEVERAL: Final = "Several methods"
_CODE: Final = "Python source alone"
_NOWHERE: Final = "In no message that both sides have"
_ARMS: Final = frozenset(("arm", "literal", "null"))
_LISTED: Final = ("tool", "prompt", "resource", "template")
_NAMED: Final = frozenset(("method", *_LISTED, "declaration", "constant"))
"""Subjects whose changes are grouped regardless of their name."""
_Cause: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """Findings of one cause at several paths; `methods` are the methods of all of them."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def methods(self) -> tuple[str, ...]:
        named = (name for finding in self.findings for name in finding.methods)
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True, slots=True)
class Section:
    """The items of one method, of several methods, of none, or outside messages; worst first."""

    title: str
    items: tuple[Item, ...]


def sections(report: Report, wanted: Iterable[Severity] = SEVERITIES) -> list[Section]:
    """Group the findings with these severities. Sections are ordered by their worst item, then by
    its number of methods, then in the order of the new schema; those about messages come first.
    """
    by_title: dict[str, list[Item]] = {}
    for item in _items(report, set(wanted)):
        by_title.setdefault(_title(item), []).append(item)
    names = [m.name for side in (report.new, report.old) for m in side.schema.methods]
    order = [*dict.fromkeys([_SEVERAL, *names, *by_title]), _CODE, _NOWHERE]
    made = [
        Section(title, tuple(sorted(items, key=lambda item: _rank(report, item))))
        for title, items in by_title.items()
    ]
    return sorted(
        made,
        key=lambda s: (s.title == _CODE, _severity(report, s.items[0]), order.index(s.title)),
    )


def _rank(report: Report, item: Item) -> tuple[int, int]:
    """Sort key: worst first, then items in most methods."""
    return _severity(report, item), -len(item.methods)


def _severity(report: Report, item: Item) -> int:
    return SEVERITIES.index(report.severity(item.first))


def _items(report: Report, wanted: set[Severity]) -> Iterator[Item]:
    by_cause: dict[_Cause, list[Finding]] = {}
    for finding in report.findings:
        if report.severity(finding) in wanted:
            by_cause.setdefault(_cause(report, finding), []).append(finding)
    return (Item(tuple(group)) for group in by_cause.values())


def _cause(report: Report, finding: Finding) -> _Cause:
    """The key by which findings are grouped into one item.

    Arms of one union have one key, and so have members of one name and type, and declarations.
    """
    change = finding.change
    common = finding.rule.id, report.severity(finding), breaks(report, finding), change.note
    if finding.unproved:
        return (*common, id(finding))
    if change.key[0] in _ARMS:
        return (*common, change.path)
    texts = change.old.text, change.new.text
    if change.key[0] in _NAMED and not change.root:
        return (*common, () if change.key[1] in ("added", "removed") else texts)
    return (*common, change.steps[-1:], texts, change.method)


def _title(item: Item) -> str:
    finding = item.first
    if set(finding.peers.values()) <= {"holds"} and finding.bindings != "holds":
        return _CODE
    methods = item.methods
    if len(methods) == 1:
        return methods[0]
    return _SEVERAL if methods or finding.routes else _NOWHERE


# ---- which witness


def witness(report: Report, finding: Finding) -> Witness | None:
    """The message which shows the break for the first requested audience; None if there is none."""
    for audience in report.audiences:
        for writer, end in (("old", 0), ("new", 2)):  # what it sends, then what it reads
            for each in finding.witnesses:
                if (each.writer, each.way.partition("-to-")[end]) == (writer, audience):
                    return each
    return None
