"""The report of a diff as one value: both sides, the findings, and their JSON document.

`document` is the JSON form, in a versioned format; the other forms are made from the same report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from mcp_bindgen.compare.changes.change import Change
from mcp_bindgen.compare.judge.verdicts import (
    AUDIENCES,
    SEVERITIES,
    Audience,
    Finding,
    Severity,
    judge,
    severity,
    worst,
)
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.compare.messages.extension import Carried
from mcp_bindgen.ir.model import Schema
from mcp_bindgen.source import Source

__all__ = ["FORMAT", "Report", "Side", "compare", "document"]

_IMPORTED: Final = "a change of the core, not of the extension"

FORMAT: Final = 1
"""The version of the document's format; raised with each change which old readers would miss."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two schemas: its name, and its text.

    `own_file`: it is the user's file, not a bundled one. `inside` lists the extension types carried
    in messages of the core, `codes` the error codes that methods answer by the pages alone.
    """

    name: str
    schema: Schema
    source: Source
    own_file: bool = True
    inside: tuple[Carried, ...] = ()
    codes: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def is_extension(self) -> bool:
        return "@" in self.schema.revision

    def imports(self, at: int | None) -> bool:
        """Return whether a byte offset lies in an imported file."""
        return at is not None and self.source.file(at)[0].path != self.source.path

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
    inside = tuple(dict.fromkeys((*old.inside, *new.inside)))
    findings = judge(old.schema, new.schema, inside=inside, codes=(old.codes, new.codes))
    if old.is_extension:
        findings = tuple(_once(old, new, findings))
    roles = tuple(findings[0].peers) if findings else AUDIENCES[:-1]
    return Report(old, new, findings, (*roles, AUDIENCES[-1]))


def _once(old: Side, new: Side, findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings at one place of a file; findings in an imported file belong to the core.

    The types of extensions are intersections, each with the members of its arms.
    """
    kept: dict[object, Finding] = {}
    for finding in findings:
        change = finding.change
        spots = [(s, spot.at) for s, spot in ((old, change.old), (new, change.new)) if spot.at]
        if spots and all(side.imports(at) for side, at in spots):
            finding = replace(finding, change=replace(change, note=_IMPORTED))
        key: object = id(finding)
        if change.steps and spots:
            texts = change.old.text, change.new.text
            key = finding.rule.id, *texts, *(side.place(at) for side, at in spots)
        kept[key] = _merge(old, kept[key], finding) if key in kept else finding
    return list(kept.values())


def _merge(old: Side, *both: Finding) -> Finding:
    """Merge two findings of one change: named after its declaration, the worse verdict for each
    role.
    """
    first, second = sorted(both, key=lambda finding: _distance(old, finding.change))
    one, other = both
    peers = {role: worst((one.peers[role], other.peers[role])) for role in one.peers}
    routes = tuple(dict.fromkeys((*first.routes, *second.routes)))
    witnesses = first.witnesses or second.witnesses
    unproved = "" if witnesses else first.unproved or second.unproved
    return replace(first, peers=peers, routes=routes, witnesses=witnesses, unproved=unproved)


def _distance(side: Side, change: Change) -> int:
    """The number of bytes between the changed member and the start of its declaration.

    It is smallest for the declaration that writes the member, larger for those that inherit it.
    """
    at = None if change.owner is None else side.schema.types[change.owner[0]].at
    return 1 << 60 if at is None or (change.old.at or 0) < at else (change.old.at or 0) - at


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
        "peers": dict(finding.peers),
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
