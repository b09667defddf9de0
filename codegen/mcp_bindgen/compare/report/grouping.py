"""What a report says to people: by method, what is alike as one, verdicts in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcp_bindgen.compare.judge.rules import Verdict
from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Audience, Finding, Severity
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.compare.report.report import Report

__all__ = [
    "QUESTIONS",
    "Item",
    "Section",
    "arrow",
    "breaks",
    "message",
    "paths",
    "refusal",
    "sections",
    "summary",
    "travels",
    "verdict",
]

QUESTIONS: Final[dict[Audience, tuple[str, str]]] = {
    "client": ("My client", "an old client with a new server"),
    "server": ("My server", "an old server with a new client"),
    "bindings": ("My code", "Python source against the old bindings"),
}
"""Whose question each verdict answers, and who meets whom."""

_SHARED: Final = "Shared by several methods"
_CODE: Final = "Python source alone"
_NOWHERE: Final = "In no message that both sides have"
_WHO: Final[dict[Audience, str]] = {
    "client": "old clients",
    "server": "old servers",
    "bindings": "Python source",
}
_WAYS: Final = {"client-to-server": ("client", "server"), "server-to-client": ("server", "client")}
_LONGEST: Final = 90
_LISTED: Final = frozenset(("arm", "literal", "null"))
_Alike: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """Findings that are alike but for their path, shown as one."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        return self.findings[0]


@dataclass(frozen=True, slots=True)
class Section:
    """What concerns one method alone, several, none, or no message at all; worst first."""

    title: str
    items: tuple[Item, ...]


def sections(report: Report, wanted: Iterable[Severity] = SEVERITIES) -> list[Section]:
    """The findings of those severities: methods in the order of the new schema, then the rest."""
    chosen = set(wanted)
    by_title: dict[str, list[Finding]] = {}
    for finding in report.worst_first():
        if report.severity(finding) in chosen:
            by_title.setdefault(_title(finding), []).append(finding)
    order = [m.name for side in (report.new, report.old) for m in side.schema.methods]
    titles = sorted(by_title, key=[*order, _SHARED, _CODE, _NOWHERE].index)
    return [Section(title, tuple(_items(report, by_title[title]))) for title in titles]


def _title(finding: Finding) -> str:
    if finding.client == finding.server == "holds" != finding.bindings:
        return _CODE
    methods = finding.methods
    if len(methods) == 1:
        return methods[0]
    return _SHARED if methods or finding.routes else _NOWHERE


def _items(report: Report, findings: Iterable[Finding]) -> Iterator[Item]:
    alike: dict[_Alike, list[Finding]] = {}
    for finding in findings:
        alike.setdefault(_alike(report, finding), []).append(finding)
    return (Item(tuple(group)) for group in alike.values())


def _alike(report: Report, finding: Finding) -> _Alike:
    """What findings have in common that are shown as one: a witness of its own keeps one apart.

    Arms of one union are one item, and so are members of one name and type, and declarations.
    """
    change = finding.change
    if finding.witnesses or finding.unproved:
        return (id(finding),)
    common = finding.rule.id, report.severity(finding), breaks(report, finding)
    if change.key[0] in _LISTED:
        return (*common, change.path)
    texts = (change.old.text, change.new.text) if change.steps else ()
    return (*common, change.steps[-1:], texts)


def summary(report: Report) -> Iterator[tuple[Audience, str, dict[Severity, int]]]:
    """For each audience asked for: its question, and how many findings are how bad for it."""
    for audience in report.audiences:
        counts = dict.fromkeys(SEVERITIES, 0)
        for finding in report.findings:
            counts[_of(finding, audience)] += 1
        yield audience, QUESTIONS[audience][0], counts


_BY_VERDICT: Final[dict[Verdict, Severity]] = {
    "breaks": "breaking",
    "if used": "dangerous",
    "holds": "compatible",
}


def _of(finding: Finding, audience: Audience) -> Severity:
    return "docs" if finding.rule.docs else _BY_VERDICT[finding.verdict(audience)]


_COUNTED: Final[tuple[tuple[Severity, str, str], ...]] = (
    ("breaking", "breaks it", "break it"),
    (
        "dangerous",
        "breaks it if the changed feature is used",
        "break it if the changed feature is used",
    ),
)


def verdict(counts: dict[Severity, int]) -> str:
    """One line for one audience."""
    parts = [
        f"{count} {'change' if count == 1 else 'changes'} {words if count == 1 else plural}"
        for severity, words, plural in _COUNTED
        if (count := counts[severity])
    ]
    return ", ".join(parts) or "no change breaks it"


def breaks(report: Report, finding: Finding) -> str:
    """Who is broken, in words; empty for nobody."""
    broken = [
        f"{_WHO[audience]} break{'s' * (audience == 'bindings')}"
        + (" if it is used" if finding.verdict(audience) == "if used" else "")
        for audience in report.audiences
        if finding.verdict(audience) != "holds"
    ]
    return ", ".join(broken)


def arrow(item: Item, most: int = _LONGEST) -> str:
    """Old and new in TypeScript; of the arms of a union those that came or left."""
    old = _joined(finding.change.old.text for finding in item.findings)
    new = _joined(finding.change.new.text for finding in item.findings)
    subject, what, _ = item.first.change.key
    if subject in _LISTED:
        return (
            f"no longer {_short(old, most)}" if what == "removed" else f"also {_short(new, most)}"
        )
    if old and new:
        return f"{_short(old, most)} → {_short(new, most)}"
    return f"{'was' if old else 'now'} {_short(old or new, most)}" if old or new else ""


def _joined(texts: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(texts))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def paths(item: Item, most: int = 3) -> str:
    """The paths of an item; of many, the first."""
    distinct = list(dict.fromkeys(finding.change.path for finding in item.findings))
    more = f" and {len(distinct) - most} more" if len(distinct) > most else ""
    return ", ".join(distinct[:most]) + more


def travels(witness: Witness) -> str:
    """Who writes the message, and who reads it."""
    writer, reader = _WAYS[witness.way]
    other = "old" if witness.writer == "new" else "new"
    return f"{witness.writer} {writer} → {other} {reader}"


def refusal(witness: Witness) -> str:
    return f"refused at {witness.path}: expected {witness.expected}"


def message(witness: Witness, indent: int | None = None) -> str:
    return json.dumps(witness.message, ensure_ascii=False, indent=indent)
