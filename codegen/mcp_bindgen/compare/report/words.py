"""The words of a report: verdicts, counts, old and new state, refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mcp_bindgen.compare.judge.rules import Verdict
from mcp_bindgen.compare.judge.verdicts import SEVERITIES, Audience, Finding, Severity
from mcp_bindgen.compare.judge.witness import Witness
from mcp_bindgen.compare.report.report import Report

__all__ = [
    "arrow",
    "breaks",
    "few",
    "message",
    "paths",
    "question",
    "refusal",
    "summary",
    "travels",
    "verdict",
]

_QUESTIONS: Final[dict[Audience, tuple[str, str]]] = {
    "client": ("My client", "an old client with a new server"),
    "server": ("My server", "an old server with a new client"),
    "bindings": ("My code on the bindings", "Python source against bindings of the old side"),
}
_IF_USED: Final = "if the changed feature is used"
_LONGEST: Final = 90
_MARK: Final = re.compile(r"(\??): ")
"""How the text of a member begins whose optionality changed: `?: T` or `: T`."""
_LISTED: Final = frozenset(("arm", "literal", "null"))
_BY_VERDICT: Final[dict[Verdict, Severity]] = {
    "breaks": "breaking",
    "if used": "dangerous",
    "holds": "compatible",
}


# ---- verdicts


def summary(report: Report) -> Iterator[tuple[Audience, str, dict[Severity, int]]]:
    """For each requested audience: its question, and the number of findings of each severity."""
    for audience in report.audiences:
        counts = dict.fromkeys(SEVERITIES, 0)
        for finding in report.findings:
            counts["docs" if finding.rule.docs else _BY_VERDICT[finding.verdict(audience)]] += 1
        yield audience, question(audience)[0], counts


def question(audience: Audience) -> tuple[str, str]:
    """The question which a verdict answers for an audience, and the pair of peers it is about."""
    return _QUESTIONS.get(audience) or (f"My {audience}", f"an old {audience} with new peers")


def _who(audience: Audience) -> str:
    plural = "es" if audience.endswith("x") else "s"
    return "Python source" if audience == "bindings" else f"old {audience}{plural}"


def verdict(counts: dict[Severity, int]) -> str:
    """One line for one audience."""
    surely, perhaps = counts["breaking"], counts["dangerous"]
    if surely and perhaps:
        return f"{_changes(surely)} it, {perhaps} more {_IF_USED}"
    if surely or perhaps:
        return f"{_changes(surely or perhaps)} it{'' if surely else f' {_IF_USED}'}"
    return "no change breaks it"


def _changes(count: int) -> str:
    return "1 change breaks" if count == 1 else f"{count} changes break"


def breaks(report: Report, finding: Finding) -> str:
    """The peers which the change breaks: first those it always breaks, then those using the
    feature.
    """
    by_verdict: dict[Verdict, list[str]] = {}
    for audience in report.audiences:
        by_verdict.setdefault(finding.verdict(audience), []).append(_who(audience))
    surely, perhaps = by_verdict.get("breaks"), by_verdict.get("if used")
    if surely and perhaps:
        return f"breaks {_and(surely)}; {_and(perhaps)} only {_IF_USED}"
    if surely or perhaps:
        return f"breaks {_and(surely or perhaps or [])}{'' if surely else f' {_IF_USED}'}"
    return ""


def _and(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# ---- what changed


def arrow(findings: Sequence[Finding], most: int = _LONGEST) -> str:
    """Old and new state in TypeScript, for the findings of one item; for arms the removed or added
    ones.
    """
    old = _join(finding.change.old.text for finding in findings)
    new = _join(finding.change.new.text for finding in findings)
    subject, what, _ = findings[0].change.key
    if subject in _LISTED:
        return f"no longer {_cut(old, most)}" if what == "removed" else f"also {_cut(new, most)}"
    if findings[0].change.key[:2] == ("member", "became"):
        return _optionality(old, new, most)
    if old and new:
        return f"{_cut(old, most)} → {_cut(new, most)}"
    return f"{'was' if old else 'now'} {_cut(old or new, most)}" if old or new else ""


def _optionality(old: str, new: str, most: int) -> str:
    """`: T` and `?: T` in words, with the type once where it is the same."""
    (before, was), (after, now) = (_split_mark(text) for text in (old, new))
    if was == now:
        return f"{before} → {after}: {_cut(now, most)}"
    return f"{before} {_cut(was, most)} → {after} {_cut(now, most)}"


def _split_mark(text: str) -> tuple[str, str]:
    mark = _MARK.match(text)
    return ("optional" if mark and mark[1] else "required"), text[mark.end() if mark else 0 :]


def _join(texts: Iterable[str]) -> str:
    return " | ".join(dict.fromkeys(texts))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def paths(findings: Iterable[Finding], most: int = 3) -> str:
    """The paths of an item's findings; the first few of many."""
    return few((finding.change.path for finding in findings), most)


def few(names: Iterable[str], most: int) -> str:
    """The first names, at most `most`, and the number of the others, as text."""
    distinct = list(dict.fromkeys(names))
    more = len(distinct) - most
    return ", ".join(distinct[:most]) + (f" and {more} more" if more > 0 else "")


# ---- witnesses


def travels(witness: Witness) -> str:
    """The writer and the reader of a witness's message, in words."""
    writer, _, reader = witness.way.partition("-to-")
    other = "old" if witness.writer == "new" else "new"
    return f"{witness.writer} {writer} → {other} {reader}"


def refusal(witness: Witness) -> str:
    return f"refused at {witness.path}: expected {witness.expected}"


def message(witness: Witness) -> str:
    return json.dumps(witness.message, ensure_ascii=False)
