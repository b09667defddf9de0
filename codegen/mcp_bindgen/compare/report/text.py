"""A report as text: the news in five lines, the affected peers, then everything by method."""

from __future__ import annotations

import re
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
"""Colours a piece of text by its role, on a terminal."""
_SHOWN: Final[tuple[Severity, ...]] = ("breaking", "dangerous")
_WITNESS: Final = 240
"""Characters shown of a witness."""
_METHODS: Final = 4
"""Methods named by an item."""
_DETAIL: Final = " " * 13
_NARROWEST: Final = 40
_PIECE: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*(?:"|$)|[^\s"])+')
"""An unbreakable piece of a line: a word, or a quoted text, so JSON stays JSON."""


def _plain(text: str, _: Role) -> str:
    return text


def text(report: Report, verbose: bool, paint: Paint = _plain, width: int | None = None) -> str:
    """All findings if `verbose`, else the ones which break somebody.

    Longer lines than `width` columns are wrapped and indented; None leaves them whole.
    """
    return "\n".join(_lines(report, verbose, paint, width))


def _wrap(text: str, head: str, width: int | None) -> list[str]:
    """`text` after `head`, in lines of at most `width` columns where words allow it."""
    if width is None or len(head) + len(text) <= max(width, _NARROWEST):
        return [head + text]
    hanging = " " * (len(head) + 2)
    lines: list[str] = []
    line = head
    for piece in _PIECE.findall(text):
        if len(line) > len(hanging) and len(line) + len(piece) >= max(width, _NARROWEST):
            lines.append(line)
            line = hanging
        line += piece if line in (head, hanging) else f" {piece}"
    return [*lines, line]


def _lines(report: Report, verbose: bool, paint: Paint, width: int | None) -> Iterator[str]:
    yield paint(printable(f"{report.old.name} → {report.new.name}"), "heading")
    if not report.findings:
        yield "No changes."
        return
    if news := headlines(report):
        for line in news:
            yield from _wrap(printable(line), "  ", width)
        yield ""
    longest = max(len(question) for _, question, _ in words.summary(report))
    for _, question, counts in words.summary(report):
        yield from _wrap(words.verdict(counts), f"  {question:<{longest}}  ", width)
    for section in sections(report, SEVERITIES if verbose else _SHOWN):
        yield ""
        yield paint(printable(section.title), "heading")
        for item in section.items:
            yield from _item(report, item, paint, width)
    yield from _rest(report, verbose)


def _rest(report: Report, verbose: bool) -> Iterator[str]:
    """The number of hidden findings, and the option to show them."""
    left = [f"{n} {s}" for s in SEVERITIES if s not in _SHOWN and (n := report.count(s))]
    yield ""
    if left and not verbose:
        yield f"Not shown: {', '.join(left)}; --verbose shows them."
    if report.hidden:
        yield f"Ignored: {report.hidden}."
    yield "--explain RULE says what a rule means, and what to do."


def _item(report: Report, item: Item, paint: Paint, width: int | None) -> Iterator[str]:
    finding = item.first
    severity = report.severity(finding)
    id = finding.rule.id
    *before, last = _wrap(printable(words.paths(item.findings)), _DETAIL, width)
    head = [*before, last] if width and len(last) + len(id) + 2 > width else before
    tail = f"{_DETAIL}  " if len(head) > len(before) else f"{last}  "
    rows = [*head, tail + paint(id, "rule")]
    yield f"  {paint(f'{severity:<10}', severity)} {rows[0].removeprefix(_DETAIL)}"
    yield from rows[1:]
    for line in _details(report, item):
        yield from _wrap(printable(line), _DETAIL, width)


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
