"""A report as a self-contained page of HTML: no network, no files, no fonts.

The template escapes all text from schemas; the page's own style and script are allowed by their
hashes, and nothing else may run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import jinja2

from mcp_bindgen import paths
from mcp_bindgen.compare.judge.rules import Verdict
from mcp_bindgen.compare.judge.verdicts import (
    AUDIENCES,
    SEVERITIES,
    Audience,
    Finding,
    Severity,
    severity,
)
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.compare.report import words
from mcp_bindgen.compare.report.grouping import sections
from mcp_bindgen.compare.report.headlines import headlines
from mcp_bindgen.compare.report.history import Cell, History
from mcp_bindgen.compare.report.report import Report, Side
from mcp_bindgen.source import Source, read
from mcp_bindgen.source.excerpt import excerpt
from mcp_bindgen.source.syntax import Module

__all__ = ["page"]

_WORST: Final = 4
"""Findings named on a card."""
_KINDS: Final = {"method": "Methods", "declaration": "Declarations", "constant": "Constants"}
_MARKS: Final = {"came": "new", "gone": "gone", "absent": "", "present": "●"}
_AROUND: Final = 4
_WIDEST: Final = 400
"""Lines of JSON shown around a place, and characters shown of a line."""
_SLUG: Final = re.compile(r"[^A-Za-z0-9]+")


def page(report: Report, history: History | None = None) -> str:
    """Render the page; with a history, it ends with a table of all revisions.

    A report without a history compares extensions, whose excerpts are declarations, or lists of
    tools, whose excerpts are some lines of JSON.
    """
    typescript = history is not None or report.old.is_extension
    engine = _engine()
    style, script = (_text(engine, f"report.{suffix}") for suffix in ("css", "js"))
    return engine.get_template("report.html.jinja").render(
        report=report,
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
        headlines=headlines(report),
        severities=SEVERITIES,
        audiences=[(a, words.question(a)[0]) for a in report.audiences],
        rules=sorted({finding.rule.id for finding in report.findings}),
        cards=[_card(report, *row) for row in words.summary(report)],
        sections=_Sections(report, typescript).rows(),
        history=None if history is None else _matrix(history),
    )


def _engine() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(paths.templates() / "diff"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )


def _text(engine: jinja2.Environment, name: str) -> str:
    assert engine.loader is not None
    return engine.loader.get_source(engine, name)[0]


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# ---- cards


def _card(
    report: Report, audience: Audience, question: str, counts: Mapping[Severity, int]
) -> dict[str, Any]:
    worst = next((s for s in ("breaking", "dangerous") if counts[s]), "compatible")
    wanted = "breaks" if worst == "breaking" else "if used"
    wanted_ones = [f for f in report.findings if f.verdict(audience) == wanted and not f.rule.docs]
    ranked = sorted(wanted_ones, key=lambda f: (not f.witnesses, not f.change.method))
    return {
        "audience": audience,
        "question": question,
        "meets": words.question(audience)[1],
        "worst": worst,
        "verdict": {"breaking": "breaks", "dangerous": "breaks where used"}.get(worst, "holds"),
        "counts": counts,
        "named": [{"id": _slug(f), "path": f.change.path} for f in ranked[:_WORST]],
        "all": sum(f.verdict(audience) != "holds" and not f.rule.docs for f in report.findings),
    }


def _slug(finding: Finding) -> str:
    """The id of a finding in a page. It is the same in every page which has the finding."""
    change = finding.change
    parts = (finding.rule.id, change.path, change.old.text, change.new.text)
    short = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:6]
    return f"{_SLUG.sub('-', change.path).strip('-')}-{short}"


# ---- findings


def _everybody(report: Report) -> tuple[Audience, ...]:
    """All audiences for which the findings have verdicts, requested or not."""
    roles = dict.fromkeys(role for finding in report.findings for role in finding.peers)
    return (*roles, "bindings")


class _Sections:
    """The findings by method, each with its details."""

    def __init__(self, report: Report, typescript: bool) -> None:
        self.report = report
        self.typescript = typescript
        self.modules: dict[int, Module] = {}

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "title": section.title,
                "findings": [self._row(f) for item in section.items for f in item.findings],
            }
            for section in sections(self.report)
        ]

    def _row(self, finding: Finding) -> dict[str, Any]:
        change = finding.change
        asked = _everybody(self.report)
        verdicts: list[tuple[Audience, Verdict]] = [(a, finding.verdict(a)) for a in asked]
        searched = (change.path, change.was, finding.rule.id, *finding.methods)
        return {
            "id": _slug(finding),
            "severity": self.report.severity(finding),
            "severities": {a: severity(finding, (a,)) for a in asked},
            "rule": finding.rule,
            "change": change,
            "arrow": words.arrow((finding,)),
            "verdicts": [(words.question(a), a, verdict) for a, verdict in verdicts],
            "broken": " ".join(a for a, verdict in verdicts if verdict != "holds"),
            "methods": finding.methods,
            "heirs": [owner[1] for owner in change.heirs],
            "excerpts": [*self._excerpts(finding)],
            "witnesses": [_witness(witness) for witness in finding.witnesses],
            "unproved": finding.unproved,
            "words": " ".join(searched).lower(),
        }

    def _excerpts(self, finding: Finding) -> Iterator[dict[str, Any]]:
        change = finding.change
        for side, spot in ((self.report.old, change.old), (self.report.new, change.new)):
            if spot.at is not None:
                place, lines = side.place(spot.at), self._lines(side, spot.at)
                yield {"name": side.name, "place": place, "lines": lines}

    def _lines(self, side: Side, at: int) -> list[tuple[str, bool]]:
        """Return the TypeScript declaration around a byte offset, or the lines of JSON around it;
        True stands beside the line of the offset.
        """
        if not self.typescript:
            return _around(side, at)
        source, inner = side.source.file(at)
        if id(source) not in self.modules:
            self.modules[id(source)] = read(source.data, source.path)
        return _declaration(source, self.modules[id(source)], inner)


def _declaration(source: Source, module: Module, at: int) -> list[tuple[str, bool]]:
    around = [d.name for d in module.declarations if d.at <= at]
    text = excerpt(source, module, around[-1])
    start = source.data.find(text.encode())
    marked = source.data.count(b"\n", start, at)
    return [(line, number == marked) for number, line in enumerate(text.split("\n"))]


def _around(side: Side, at: int) -> list[tuple[str, bool]]:
    text = side.source.data.decode()
    number = side.source.data.count(b"\n", 0, at)
    lines = text.split("\n")[max(0, number - _AROUND) : number + _AROUND + 1]
    return [(line[:_WIDEST], n == min(number, _AROUND)) for n, line in enumerate(lines)]


def _witness(witness: Witness) -> dict[str, Any]:
    return {
        "travels": words.travels(witness),
        "message": json.dumps(witness.message, indent=2, ensure_ascii=False),
        "refusal": words.refusal(witness),
    }


# ---- all revisions


def _matrix(history: History) -> dict[str, Any]:
    groups: dict[str, list[dict[str, Any]]] = {title: [] for title in _KINDS.values()}
    for row in history.rows:
        cells = [_cell(cell) for cell in row.cells]
        groups[_KINDS[row.kind]].append({"name": row.name, "cells": cells})
    return {"revisions": [side.name for side in history.sides], "groups": groups}


def _cell(cell: Cell) -> dict[str, Any]:
    worst = cell.severity()
    changed = cell.state == "changed" and worst is not None
    return {
        "kind": worst if changed else cell.state,
        "mark": worst if changed else _MARKS.get(cell.state, "●"),
        "severities": {a: cell.severity((a,)) for a in AUDIENCES} if changed else {},
        "findings": [f"{f.change.path}: {f.rule.id}" for f in cell.findings[:12]],
    }
