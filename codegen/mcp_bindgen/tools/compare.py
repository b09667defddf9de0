"""Compares two surfaces, the lists of tools, prompts, resources and templates of two servers, with
the engine for schemas.

Rules, verdicts and witnesses are those of schemas. Only the source verdict differs: it concerns
code which calls tools through types generated from the old surface, so it writes inputs and reads
outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from mcp_bindgen.compare.changes.change import ITEM, VALUE, Change
from mcp_bindgen.compare.judge.rules import BY_KEY, Rule, Verdict
from mcp_bindgen.compare.judge.verdicts import Finding, judge
from mcp_bindgen.compare.messages.directions import TO_SERVER
from mcp_bindgen.compare.report.report import Report
from mcp_bindgen.tools.exact import ExactTools
from mcp_bindgen.tools.surface import ARGUMENTS, STRUCTURED, WRAPPERS, Surface
from mcp_bindgen.tools.text_findings import text_findings

__all__ = ["compare"]

_HEADS: Final = {ARGUMENTS: "input", STRUCTURED: "output"}
_LISTED: Final = ("tool", "prompt", "resource", "template")
"""Subjects of changes of a whole item."""
_UNKNOWN: Final = {
    "tool": ("$.params.name", "a tool that it has"),
    "prompt": ("$.params.name", "a prompt that it has"),
    "resource": ("$.params.uri", "a resource that it has"),
    "template": ("$.params.uri", "a template that it has"),
}
"""Where a peer refuses a request for an item that it does not have, and what it expects."""
_OUTPUTS: Final = {
    ("member", "added", "required"): ("tool", "output added", ""),
    ("member", "removed", "required"): ("tool", "output removed", ""),
}
_PUNCTUATION: Final = re.compile(r"\{[^}]*\}|[^\w{]+|_+|\{")
_ONE_SIDED: Final = (
    ("member", "added"),
    ("member", "removed"),
    ("tool", "output added"),
    ("tool", "output removed"),
)
_OF_NAMES: Final = ("declaration", "shape")
"""Subjects of changes which only concern names; schemas of tools have no names."""


def compare(old: Surface, new: Surface) -> Report:
    """The findings of two surfaces, by tool: in the order of the new side, then removed tools."""
    findings = list(_renames(list(_judge(old, new))))
    one_sided = {f.change.path for f in findings if f.change.key[:2] in _ONE_SIDED}
    findings += text_findings(old, new, one_sided)
    unique = {_identity(finding): finding for finding in findings}
    names = [m.name for m in (*new.side.schema.methods, *old.side.schema.methods)]
    order = {name: number for number, name in reversed(list(enumerate((*names, ""))))}
    ordered = sorted(unique.values(), key=lambda finding: order[_tool_of(finding)])
    return Report(old.side, new.side, tuple(ordered))


def _renames(findings: list[Finding]) -> Iterator[Finding]:
    """Link a removed item to an added one if their names differ only in case, punctuation, and the
    variables of a template.
    """
    alike: dict[str, list[Finding]] = {}
    for finding in filter(_is_lone, findings):
        alike.setdefault(_PUNCTUATION.sub("", finding.change.path).casefold(), []).append(finding)
    likely: dict[str, str] = {}
    for twins in alike.values():
        keys = [f.change.key[:2] for f in twins]
        if len(twins) == 2 and len({kind for kind, _ in keys}) == 1 and len({*keys}) == 2:
            names = [f.change.path for f in twins]
            likely |= {names[0]: names[1], names[1]: names[0]}
    for finding in findings:
        other = likely.get(finding.change.path) if _is_lone(finding) else None
        note = f"perhaps renamed: see {other}"
        yield replace(finding, change=replace(finding.change, note=note)) if other else finding


def _is_lone(finding: Finding) -> bool:
    """Return whether a whole item stands on one side alone."""
    subject, kind, _ = finding.change.key
    return subject in _LISTED and kind in ("added", "removed")


def _identity(finding: Finding) -> tuple[str, ...]:
    """The key for merging findings: several alternatives can report the same finding."""
    change = finding.change
    return finding.rule.id, change.path, change.old.text, change.new.text


def _judge(old: Surface, new: Surface) -> Iterator[Finding]:
    """The engine's findings, worded for tools."""
    places = old.reader.paths | new.reader.paths
    kinds = {**old.kinds, **new.kinds}
    for finding in judge(old.side.schema, new.side.schema, exact=ExactTools(old, new)):
        if finding.change.key[0] not in _OF_NAMES and not _is_doubled(finding.change):
            yield _in_words_of_tools(finding, places, kinds)


def _is_doubled(change: Change) -> bool:
    """Return whether a change inside a recursive shape repeats a change at its first place."""
    return (
        change.owner is not None
        and change.owner[0] == change.owner[1]
        and change.owner[0].endswith("#")
    )


def _in_words_of_tools(
    finding: Finding, places: Mapping[str, str], kinds: Mapping[str, str]
) -> Finding:
    change = finding.change
    outputs = _OUTPUTS if change.steps == (STRUCTURED,) else {}
    key = outputs.get(change.key, change.key)
    is_lone = key[0] == "method" and key[1] in ("added", "removed")
    if is_lone:
        key = (kinds.get(change.path, "tool"), *key[1:])
    rule = BY_KEY[key]
    named = replace(
        change,
        key=key,
        path=_path(change, change.path, places),
        was=_path(change, change.was, places),
    )
    witnesses = finding.witnesses
    if is_lone:
        spots = [replace(s, text=named.path if s.text else "") for s in (named.old, named.new)]
        named = replace(named, old=spots[0], new=spots[1])
        path, expected = _UNKNOWN[key[0]]
        witnesses = tuple(replace(each, path=path, expected=expected) for each in witnesses)
    bindings = _of_callers(rule, finding)
    return replace(finding, rule=rule, change=named, bindings=bindings, witnesses=witnesses)


def _tool_of(finding: Finding) -> str:
    return next(iter(finding.methods), "")


def _path(change: Change, path: str, places: Mapping[str, str]) -> str:
    """The path as people write it: below the input or output of a tool.

    The first step of a wrapper says which of these it is; an alias is called after its place.
    """
    if not path or change.owner is None:
        return path
    steps = "".join(s if s in (ITEM, VALUE) else f".{s}" for s in change.steps)
    around = path.removesuffix(steps)
    if change.owner[1].endswith(WRAPPERS) and change.steps:
        rest = steps.removeprefix(f".{change.steps[0]}")
        return f"{around}.{_HEADS.get(change.steps[0], change.steps[0])}{rest}"
    return places.get(around, around) + steps


def _of_callers(rule: Rule, finding: Finding) -> Verdict:
    """The verdict for calling code: does it write or read the changed place?"""
    refused = rule.new_refuses if TO_SERVER in finding.ways else rule.old_refuses
    lost = rule.key[1] == "removed" and rule.key[0] in ("member", *_LISTED)
    return rule.source if refused != "nothing" or lost else "holds"
