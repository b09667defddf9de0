"""A report as text: the news in five lines, what breaks whom, then all of it by method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, TypeAlias

from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Severity
from mcp_bindgen.compare.report import words
from mcp_bindgen.compare.report.grouping import Item, sections, witness
from mcp_bindgen.compare.report.headlines import headlines
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.source.text import printable

__all__ = ["Paint", "Role", "text"]

Role: TypeAlias = Severity | Literal["heading", "rule"]
Paint: TypeAlias = Callable[[str, Role], str]
"""Colours a piece of text by what it is; a terminal's business."""
_SHOWN: Final[tuple[Severity, ...]] = ("breaking", "dangerous")
_WITNESS: Final = 240
"""Characters of a witness that are shown."""
_METHODS: Final = 4
"""Methods that an item names."""


def _plain(text: str, _: Role) -> str:
    return text


def text(report: Report, verbose: bool, paint: Paint = _plain) -> str:
    """All findings if `verbose`, else those that break somebody."""
    return "\n".join(_lines(report, verbose, paint))


def _lines(report: Report, verbose: bool, paint: Paint) -> Iterator[str]:
    yield paint(printable(f"{report.old.name} → {report.new.name}"), "heading")
    if not report.findings:
        yield "No changes."
        return
    if news := headlines(report):
        yield from (f"  {printable(line)}" for line in news)
        yield ""
    width = max(len(question) for _, question, _ in words.summary(report))
    for _, question, counts in words.summary(report):
        yield f"  {question:<{width}}  {words.verdict(counts)}"
    for section in sections(report, SEVERITIES if verbose else _SHOWN):
        yield ""
        yield paint(printable(section.title), "heading")
        for item in section.items:
            yield from _item(report, item, paint)
    yield from _rest(report, verbose)


def _rest(report: Report, verbose: bool) -> Iterator[str]:
    """What is not shown, and where to read on."""
    left = [f"{n} {s}" for s in SEVERITIES if s not in _SHOWN and (n := report.count(s))]
    yield ""
    if left and not verbose:
        yield f"Not shown: {', '.join(left)}; --verbose shows them."
    if report.hidden:
        yield f"Ignored: {report.hidden}."
    yield "--explain RULE says what a rule means, and what to do."


def _item(report: Report, item: Item, paint: Paint) -> Iterator[str]:
    finding = item.first
    severity = report.severity(finding)
    word, rule = paint(f"{severity:<10}", severity), paint(finding.rule.id, "rule")
    yield f"  {word} {printable(words.paths(item.findings))}  {rule}"
    yield from (f"             {printable(line)}" for line in _details(report, item))


def _details(report: Report, item: Item) -> Iterator[str]:
    finding = item.first
    if arrow := words.arrow(item.findings):
        yield arrow
    if broken := words.breaks(report, finding):
        yield broken
    if len(item.methods) > 1 and finding.change.key[0] not in ("method", "tool"):
        yield f"in {words.few(item.methods, _METHODS)}"
    if finding.change.note:
        yield finding.change.note
    if shown := witness(report, finding):
        message = words.message(shown)
        cut = message if len(message) <= _WITNESS else f"{message[:_WITNESS]}…"
        yield f"{words.travels(shown)}: {cut}"
        yield words.refusal(shown)
    if finding.unproved:
        yield f"no message shows it: {finding.unproved}"
