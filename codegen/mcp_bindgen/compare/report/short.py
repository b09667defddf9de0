"""A report as one line for each finding, worst first, like the output of compilers."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.compare.report import words
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.source.text import printable

__all__ = ["short"]


def short(report: Report) -> str:
    """`file:line:column: severity RULE path: change (affected peers)`, one line each."""
    return "\n".join(map(printable, _lines(report)))


def _lines(report: Report) -> Iterator[str]:
    for finding in report.worst_first():
        broken = words.breaks(report, finding)
        what = ": ".join(filter(None, (finding.change.path, words.arrow((finding,)))))
        who = f" ({broken})" if broken else ""
        yield f"{_place(report, finding)}{report.severity(finding)} {finding.rule.id} {what}{who}"
    if not report.findings:
        yield f"no changes from {report.old.name} to {report.new.name}"


def _place(report: Report, finding: Finding) -> str:
    """The place of a finding in the new file; of a removal, in the old file."""
    change = finding.change
    place = report.new.place(change.new.at) or report.old.place(change.old.at)
    return f"{place}: " if place else ""
