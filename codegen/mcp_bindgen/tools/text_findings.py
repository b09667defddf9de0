"""Findings outside the types: texts, hints, and unread keywords."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_bindgen.compare.changes.change import Change, Spot
from mcp_bindgen.compare.changes.pairing import pair
from mcp_bindgen.compare.judge.rules import BY_KEY, Refuses, Rule, Verdict
from mcp_bindgen.compare.judge.verdicts import Finding
from mcp_bindgen.compare.messages.directions import Route, of_method, result_route
from mcp_bindgen.ir.model import Method
from mcp_bindgen.ir.walk import PARTIAL
from mcp_bindgen.tools.keywords import TEXTS
from mcp_bindgen.tools.remarks import Remark, Remarks
from mcp_bindgen.tools.surface import Surface

__all__ = ["text_findings"]

_SUBJECTS: Final = {
    "title": "text",
    "description": "text",
    "annotations": "annotation",
    "execution": "execution",
    "unread": "unread",
}
"""The subject of a rule for a keyword or a tool's member; all others are `meta`."""
_OF_REFUSED: Final[dict[Refuses, Verdict]] = {
    "nothing": "holds",
    "some": "if used",
    "all": "breaks",
}


def text_findings(old: Surface, new: Surface, one_sided: set[str]) -> Iterator[Finding]:
    """The differences in remarks; skips `one_sided`, the paths missing on one side."""
    twins = {m.name: m for m in new.side.schema.methods}
    both = {m.name: (m, twins[m.name]) for m in old.side.schema.methods if m.name in twins}
    names = pair(old.side.schema, new.side.schema).names
    ids = {id: _renamed(id, names) for id in old.reader.seen}
    common = set(ids.values()) & new.reader.seen
    unread = _at_new_place(old.reader.unread, ids), new.reader.unread
    texts = _at_new_place(old.reader.texts, ids), new.reader.texts
    for before, after in (
        *_differing(old.members, new.members),
        *_differing(*({k: r for k, r in t.items() if k[0] in common} for t in texts)),
        *_differing(*unread),
    ):
        remark = before or after
        assert remark is not None
        if remark.tool in both and not any(_lies_in(remark.path, path) for path in one_sided):
            key = "unread" if remark.part and remark.keyword not in TEXTS else remark.keyword
            yield _finding(
                both[remark.tool], BY_KEY["tool", _SUBJECTS.get(key, "meta"), ""], before, after
            )


def _at_new_place(remarks: Remarks, ids: dict[str, str]) -> Remarks:
    return {(ids[id], keyword): remark for (id, keyword), remark in remarks.items()}


def _renamed(id: str, names: dict[str, str]) -> str:
    """The id on the new side for a place of the old side, by the renamed shape around it."""
    for cut in range(len(id), 0, -1):
        name = next((name for name in (id[:cut], id[:cut] + PARTIAL) if name in names), None)
        if name is not None and _lies_in(id, id[:cut]):
            return names[name].removesuffix(PARTIAL) + id[cut:]
    return id


def _lies_in(path: str, outer: str) -> bool:
    return path.startswith(outer) and path[len(outer) :][:1] in ("", ".", "[", "{", "|")


def _differing(before: Remarks, after: Remarks) -> Iterator[tuple[Remark | None, Remark | None]]:
    for key in before | after:
        a, b = before.get(key), after.get(key)
        if a is None or b is None or (a.value, a.context) != (b.value, b.context):
            yield a, b


def _finding(
    twins: tuple[Method, Method], rule: Rule, before: Remark | None, after: Remark | None
) -> Finding:
    """A finding without witness, since the keyword's meaning is unknown here."""
    remark = after or before
    assert remark is not None
    spots = [Spot(_spell(r), at=r.at) if r else Spot() for r in (before, after)]
    note = _note(before, after)
    change = Change(rule.key, remark.path, spots[0], spots[1], method=twins[0].name, note=note)
    client, server = _OF_REFUSED[rule.new_refuses], _OF_REFUSED[rule.old_refuses]
    if remark.part == "output":
        client, server = server, client
    doubtful = (client, server) != ("holds", "holds")
    return Finding(
        rule,
        change,
        {"client": client, "server": server},
        rule.source,
        tuple(_routes(*twins, remark.part)),
        unproved=f"`{remark.keyword}` is not interpreted, so no message is known to be refused"
        if doubtful
        else "",
    )


def _note(before: Remark | None, after: Remark | None) -> str:
    if before and after and before.value == after.value:
        return f"`{after.keyword}` is written alike, but what it refers to or stands beside changed"
    return ""


def _spell(remark: Remark) -> str:
    return f"{remark.keyword}: {remark.value}" if remark.part else remark.value


def _routes(old: Method, new: Method, part: str) -> Iterator[Route]:
    for route in of_method(old, new):
        if part == "output":
            yield from result_route(old, new, route)
        else:
            yield route
