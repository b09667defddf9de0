"""`mcp-bindgen diff` as text: what breaks whom, then the findings by method, worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias

from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Severity
from mcp_bindgen.compare.report import grouping
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.source.text import printable

__all__ = ["Paint", "Role", "text"]

Role: TypeAlias = Severity | Literal["heading", "rule"]
Paint: TypeAlias = Callable[[str, Role], str]
"""Colours a piece of text by what it is; a terminal's business."""
_SHOWN: Final[tuple[Severity, ...]] = ("breaking", "dangerous")
_WITNESS: Final = 240
"""Characters of a witness that is shown whole."""


def _plain(text: str, _: Role) -> str:
    return text


def text(report: Report, verbose: bool, paint: Paint = _plain) -> str:
    """All findings if `verbose`, else those that break somebody."""
    return "\n".join(_lines(report, verbose, paint))


def _lines(report: Report, verbose: bool, paint: Paint) -> Iterator[str]:
    yield paint(printable(f"{report.old.name} → {report.new.name}"), "heading")
    if not report.findings:
        yield f"No changes: {report.old.schema.digest[:16]} and {report.new.schema.digest[:16]}."
        return
    for _, question, counts in grouping.summary(report):
        yield f"  {question:<10} {grouping.verdict(counts)}"
    for section in grouping.sections(report, SEVERITIES if verbose else _SHOWN):
        yield ""
        yield paint(printable(section.title), "heading")
        for item in section.items:
            yield from _item(report, item, paint)
    yield from _rest(report, verbose)


def _rest(report: Report, verbose: bool) -> Iterator[str]:
    """What is not shown."""
    left = [f"{n} {s}" for s in SEVERITIES if s not in _SHOWN and (n := report.count(s))]
    if left and not verbose:
        yield ""
        yield f"Not shown: {', '.join(left)}; --verbose shows them."
    if report.hidden:
        yield f"Ignored: {report.hidden}."


def _item(report: Report, item: grouping.Item, paint: Paint) -> Iterator[str]:
    finding = item.first
    severity = report.severity(finding)
    word, rule = paint(f"{severity:<10}", severity), paint(finding.rule.id, "rule")
    yield f"  {word} {printable(grouping.paths(item))}  {rule}"
    yield from (f"             {printable(line)}" for line in _details(report, item))


def _details(report: Report, item: grouping.Item) -> Iterator[str]:
    finding = item.first
    if arrow := grouping.arrow(item):
        yield arrow
    if broken := grouping.breaks(report, finding):
        yield broken
    if finding.change.note:
        yield finding.change.note
    for witness in finding.witnesses[:1]:
        message = grouping.message(witness)
        shown = message if len(message) <= _WITNESS else f"{message[:_WITNESS]}…"
        yield f"{grouping.travels(witness)}: {shown}"
        yield grouping.refusal(witness)
    if finding.unproved:
        yield f"no message shows it: {finding.unproved}"
