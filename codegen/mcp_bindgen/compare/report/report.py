"""What a diff says, as one value: the two sides, the findings, and the document made of them.

`document` is the JSON form, whose shape has a version; the other forms are made from the same
report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from mcp_bindgen.compare.judge.verdicts import (
    AUDIENCES,
    SEVERITIES,
    Audience,
    Finding,
    Severity,
    judge,
    severity,
)
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.ir.model import Schema
from mcp_bindgen.source import Source

__all__ = ["FORMAT", "Report", "Side", "compare", "document"]

FORMAT: Final = 1
"""The version of the document's shape: one more with each change that old readers would miss."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two schemas: what it is called, and its text.

    `own_file` says whether that is a file of whoever asks, and not one that we bring along.
    """

    name: str
    schema: Schema
    source: Source
    own_file: bool = True

    def place(self, at: int | None) -> str:
        """`file:line:column` of a byte offset; empty without one."""
        return "" if at is None else self.source.place(at)


@dataclass(frozen=True, slots=True)
class Report:
    """The findings in the order of the schemas, for some audiences; `hidden` were ignored."""

    old: Side
    new: Side
    findings: tuple[Finding, ...]
    audiences: tuple[Audience, ...] = AUDIENCES
    hidden: int = 0

    def severity(self, finding: Finding) -> Severity:
        return severity(finding, self.audiences)

    def worst_first(self) -> list[Finding]:
        return sorted(self.findings, key=lambda f: SEVERITIES.index(self.severity(f)))

    def count(self, wanted: Severity) -> int:
        return sum(self.severity(finding) == wanted for finding in self.findings)


def compare(old: Side, new: Side) -> Report:
    """The report of two sides, for everybody."""
    return Report(old, new, judge(old.schema, new.schema))


def document(report: Report) -> dict[str, Any]:
    """The report as JSON:

    {"format": 1, "old": side, "new": side, "summary": {severity: count}, "hidden": count,
     "findings": [finding, worst first]}
    """
    return {
        "format": FORMAT,
        "old": _side(report.old),
        "new": _side(report.new),
        "audiences": list(report.audiences),
        "summary": {severity: report.count(severity) for severity in SEVERITIES},
        "hidden": report.hidden,
        "findings": [_finding(report, finding) for finding in report.worst_first()],
    }


def _side(side: Side) -> dict[str, Any]:
    schema = side.schema
    return {"name": side.name, "path": schema.path, "structure": schema.digest, "era": schema.era}


def _finding(report: Report, finding: Finding) -> dict[str, Any]:
    change = finding.change
    return {
        "rule": finding.rule.id,
        "severity": report.severity(finding),
        "path": change.path,
        "was": change.was or change.path,
        "old": {"text": change.old.text, "place": report.old.place(change.old.at)},
        "new": {"text": change.new.text, "place": report.new.place(change.new.at)},
        "methods": list(finding.methods),
        "ways": sorted(finding.ways),
        "old_client_new_server": finding.client,
        "new_client_old_server": finding.server,
        "bindings": finding.bindings,
        "inherited_by": [new_name for _, new_name in change.heirs],
        "why": finding.rule.why,
        "hint": finding.rule.hint,
        "note": change.note,
        "witnesses": [_witness(witness) for witness in finding.witnesses],
        "unproved": finding.unproved,
    }


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "writer": witness.writer,
        "way": witness.way,
        "method": witness.method,
        "part": witness.part,
        "message": witness.message,
        "path": witness.path,
        "expected": witness.expected,
    }
