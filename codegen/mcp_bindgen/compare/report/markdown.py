"""A report as Markdown, ready for a changelog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Severity
from mcp_bindgen.compare.report import words
from mcp_bindgen.compare.report.grouping import Item, Section, sections, witness
from mcp_bindgen.compare.report.headlines import headlines
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.source.text import printable

__all__ = ["markdown"]

_TITLES: Final[dict[Severity, str]] = {
    "breaking": "Breaking",
    "dangerous": "Dangerous",
    "compatible": "Compatible",
    "docs": "Documentation",
}
_MOST: Final = 600
"""Characters of the longest witness shown whole."""
_TICKS: Final = re.compile(r"`+")


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"# {_plain(report.old.name)} → {_plain(report.new.name)}"
    yield ""
    if not report.findings:
        yield "No changes."
        return
    yield from (f"- {_plain(line)}" for line in headlines(report))
    yield ""
    yield f"| | breaking | dangerous | compatible | documentation |{_hidden_note(report)}"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for _, question, counts in words.summary(report):
        cells = " | ".join(str(counts[severity]) for severity in SEVERITIES)
        yield f"| {question} | {cells} |"
    for severity in SEVERITIES:
        groups = sections(report, [severity])
        if groups:
            yield ""
            yield f"## {_TITLES[severity]}"
            for section in groups:
                yield from _section(report, section)


def _hidden_note(report: Report) -> str:
    return f" <!-- {report.hidden} ignored -->" if report.hidden else ""


def _section(report: Report, section: Section) -> Iterator[str]:
    yield ""
    yield f"### {_plain(section.title)}"
    yield ""
    for item in section.items:
        yield from _item(report, item)


def _item(report: Report, item: Item) -> Iterator[str]:
    finding = item.first
    names = ", ".join(dict.fromkeys(_code(each.change.path) for each in item.findings))
    arrow = words.arrow(item.findings, _MOST)
    yield f"- {names} — {finding.rule.id}{': ' * bool(arrow)}{_code(arrow) if arrow else ''}"
    broken = words.breaks(report, finding)
    if broken:
        yield f"  {broken[0].upper()}{broken[1:]}."
    if finding.change.note:
        yield f"  {_plain(finding.change.note)}."
    if shown := witness(report, finding):
        text = words.message(shown)
        if len(text) <= _MOST:
            refusal = _plain(words.refusal(shown))
            yield f"  {words.travels(shown)}: {_code(text)} is {refusal}."
    if finding.unproved:
        yield f"  No message shows it: {printable(finding.unproved)}."


def _code(text: str) -> str:
    """A text as inline code, even if it contains backticks."""
    flat = " ".join(text.split())
    runs = {len(run) for run in _TICKS.findall(flat)}
    fence = next("`" * n for n in range(1, len(flat) + 2) if n not in runs)
    space = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{space}{flat}{space}{fence}"


def _plain(text: str) -> str:
    """A text on one line, with the special characters of Markdown escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", " ".join(text.split()))
