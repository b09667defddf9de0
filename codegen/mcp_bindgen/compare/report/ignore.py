"""Rows which hide findings on purpose, each with a reason; an unused row is itself a finding.

A row hides the findings of its rule at its path. In both, `*` stands for any text, dots included.
An expired row hides nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from mcp_bindgen.compare.changes.change import Change, Spot
from mcp_bindgen.compare.judge.rules import BY_KEY, RULES
from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.errors import InputError
from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.source.text import close_to

__all__ = ["Ignore", "apply", "parse"]

_HEADER: Final = re.compile(r"[ \t]*\[\[[ \t]*(?:ignore|\"ignore\"|'ignore')[ \t]*\]\]")
_MEMBERS: Final = {"rule": str, "path": str, "reason": str, "until": date}
_REQUIRED: Final = ("rule", "path", "reason")
_OWN: Final = "IGNORE_"
_SHOWN: Final = """\
A row is, `until` being optional:
  [[ignore]]
  rule = "MEMBER_REMOVED_OPTIONAL"
  path = "Tool.execution"
  reason = "never used it"
  until = 2026-12-31"""


@dataclass(frozen=True, slots=True)
class Ignore:
    """A row; `until` is the last day on which it hides anything, `place` is `file:line`."""

    rule: str
    path: str
    reason: str
    place: str
    until: date | None = None

    def hides(self, finding: Finding) -> bool:
        return _matches(self.rule, finding.rule.id) and _matches(self.path, finding.change.path)

    def expired(self, today: date) -> bool:
        return self.until is not None and today > self.until


def _matches(pattern: str, text: str) -> bool:
    head, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    *middle, tail = rest
    at, end = len(head), len(text) - len(tail)
    if not (text.startswith(head) and text.endswith(tail)) or at > end:
        return False
    for part in middle:
        start = text.find(part, at, end)
        if start < 0:
            return False
        at = start + len(part)
    return True


def parse(text: str, where: str) -> tuple[Ignore, ...]:
    """Parse the rows of a file. Raises InputError with the place of an invalid row, or of a row
    without rule or reason.
    """
    try:
        table: dict[str, Any] = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{where}: {error}", remedy=_SHOWN) from None
    listed: Any = table.pop("ignore", [])
    rows = list_of(listed)
    if table or rows is None:
        named = ", ".join(map(repr, table)) or "'ignore' as something else than a list of tables"
        raise InputError(f"{where}: has {named}; expected only `[[ignore]]` rows", remedy=_SHOWN)
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _HEADER.match(line)]
    places = lines if len(lines) == len(rows) else [1] * len(rows)
    return tuple(_row(row, f"{where}:{line}") for row, line in zip(rows, places, strict=True))


def _row(row: Any, place: str) -> Ignore:
    members = object_of(row)
    if members is None:
        raise InputError(f"{place}: {row!r} is not a row", remedy=_SHOWN)
    for name, value in members.items():
        kind = _MEMBERS.get(name)
        if kind is None:
            raise InputError(f"{place}: a row has no {name!r}", remedy=_SHOWN)
        if type(value) is not kind:
            expected = "a date" if kind is date else "a string"
            raise InputError(f"{place}: `{name}` is {expected}, not {value!r}", remedy=_SHOWN)
    for name in _REQUIRED:
        if not members.get(name, "").strip():
            raise InputError(f"{place}: the row has no `{name}`", remedy=_SHOWN)
    _require_rule(members["rule"], place)
    return Ignore(**members, place=place)


def _require_rule(pattern: str, place: str) -> None:
    known = [id for id in RULES if not id.startswith(_OWN)]
    if not any(_matches(pattern, id) for id in known):
        raise InputError(
            f"{place}: no rule is called {pattern!r}",
            remedy=close_to(pattern.upper(), known, "`mcp-bindgen diff --explain` lists all."),
        )


def apply(report: Report, rows: Sequence[Ignore], today: date) -> Report:
    """Remove the hidden findings, and add a finding for each expired or unused row."""
    alive = [row for row in rows if not row.expired(today)]
    kept = [f for f in report.findings if not any(row.hides(f) for row in alive)]
    about_rows = _about_rows(report, rows, today)
    hidden = report.hidden + len(report.findings) - len(kept)
    return replace(report, findings=(*kept, *about_rows), hidden=hidden)


def _about_rows(report: Report, rows: Sequence[Ignore], today: date) -> Iterator[Finding]:
    for row in rows:
        if row.expired(today):
            yield _finding("expired", row, f"until {row.until}")
        elif not any(row.hides(finding) for finding in report.findings):
            yield _finding("unused", row, "")


def _finding(how: str, row: Ignore, until: str) -> Finding:
    rule = BY_KEY["ignore", how, ""]
    text = f"{row.rule} {until}".strip()
    change = Change(rule.key, row.path, Spot(text), note=f"{row.place}: {row.reason}")
    return Finding(rule, change, {}, "holds", ())
