"""Finds the revisions in which each method, declaration and constant came, changed and left.

A row follows one thing through all revisions, renamed or not; a cell is one revision of it, with
the findings against the previous revision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

from mcp_bindgen.compare.changes.change import ITEM, VALUE, path_step
from mcp_bindgen.compare.changes.pairing import is_inline, pair
from mcp_bindgen.compare.changes.shown_paths import places
from mcp_bindgen.compare.judge.verdicts import (
    AUDIENCES,
    SEVERITIES,
    Audience,
    Finding,
    Severity,
    severity,
)
from mcp_bindgen.compare.report.report import Report, Side, compare
from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.model import Alias, Ref, Schema, Struct, Type, Uni
from mcp_bindgen.source.text import close_to

__all__ = [
    "Cell",
    "History",
    "Kind",
    "Row",
    "State",
    "document",
    "history",
    "members",
    "related_rows",
]

Kind: TypeAlias = Literal["method", "declaration", "constant", "member"]
State: TypeAlias = Literal["absent", "came", "present", "changed", "gone"]

_TOP: Final = re.compile(r"[^.\[{]*")


@dataclass(frozen=True, slots=True)
class Cell:
    """One revision of a row.

    `path` is its name in this revision, the place of an `inline` shape, or empty if it is absent.
    `findings` compare it with the previous revision.
    """

    state: State = "absent"
    path: str = ""
    inline: bool = False
    findings: tuple[Finding, ...] = ()

    def severity(self, audiences: Iterable[Audience] = AUDIENCES) -> Severity | None:
        """The worst severity of the findings for these audiences; None without findings."""
        asked = tuple(audiences)
        ranks = (SEVERITIES.index(severity(finding, asked)) for finding in self.findings)
        worst = min(ranks, default=None)
        return None if worst is None else SEVERITIES[worst]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing through all revisions, under its newest name."""

    kind: Kind
    name: str
    cells: tuple[Cell, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, without places of inline shapes."""
        paths = (cell.path for cell in self.cells if cell.path and not cell.inline)
        return tuple(dict.fromkeys(paths))


@dataclass(frozen=True, slots=True)
class History:
    """`sides` from the oldest to the newest; `reports` compare each with the previous one."""

    sides: tuple[Side, ...]
    reports: tuple[Report, ...]
    rows: tuple[Row, ...]

    def row(self, name: str) -> Row:
        """The row with this name, now or earlier. Raises InputError naming similar names."""
        for row in self.rows:
            if row.name == name:
                return row
        for row in self.rows:
            if name in row.names:
                return row
        known = [name for row in self.rows for name in row.names]
        raise InputError(
            f"no method or declaration of any revision is called {name!r}",
            remedy=close_to(
                name,
                known,
                "--history shows all pinned revisions; give it names of methods or declarations, or"
                " none to list all.",
            ),
        )


@dataclass(slots=True)
class _Track:
    """A row in the making: its name and its findings in each revision."""

    kind: Kind
    paths: dict[int, str] = field(default_factory=dict[int, str])
    inline: set[int] = field(default_factory=set[int])
    findings: dict[int, list[Finding]] = field(default_factory=dict[int, list[Finding]])

    def add(self, number: int, finding: Finding) -> None:
        known = self.findings.setdefault(number, [])
        if finding not in known:
            known.append(finding)

    @property
    def declared(self) -> bool:
        return bool(self.paths.keys() - self.inline)

    @property
    def name(self) -> str:
        return self.paths[max(self.paths.keys() - self.inline)]

    def row(self, count: int) -> Row:
        return Row(self.kind, self.name, tuple(self._cell(number) for number in range(count)))

    def _cell(self, number: int) -> Cell:
        path = self.paths.get(number, "")
        findings = tuple(self.findings.get(number, ()))
        return Cell(self._state(number), path, number in self.inline, findings)

    def _state(self, number: int) -> State:
        here, before = number in self.paths, number - 1 in self.paths
        if here and not before:
            return "came" if number else "present"
        if here:
            return "changed" if self.findings.get(number) else "present"
        return "gone" if before else "absent"


def history(sides: Sequence[Side]) -> History:
    """The rows of all revisions, methods first, in the order of the newest revision."""
    reports = tuple(compare(old, new) for old, new in pairwise(sides))
    schemas = [side.schema for side in sides]
    methods = _by_name("method", [[m.name for m in schema.methods] for schema in schemas])
    constants = _by_name("constant", [list(schema.consts) for schema in schemas])
    types = _types(schemas)
    for number, report in enumerate(reports, 1):
        for finding in report.findings:
            for name in finding.methods:
                methods[name].add(number, finding)
            if finding.change.key[0] == "constant":
                constants[finding.change.path].add(number, finding)
            for track in _tracks_of(types, number, finding):
                track.add(number, finding)
    declared = {id(t): t for level in types[::-1] for t in level.values() if t.declared}
    rows = [
        track.row(len(sides))
        for tracks in (methods.values(), declared.values(), constants.values())
        for track in sorted(tracks, key=lambda track: -max(track.paths))
    ]
    return History(tuple(sides), reports, tuple(rows))


def _by_name(kind: Kind, levels: Sequence[Sequence[str]]) -> dict[str, _Track]:
    """Tracks by name alone, in the order of the newest level."""
    tracks: dict[str, _Track] = {}
    for names in reversed(levels):
        for name in names:
            tracks.setdefault(name, _Track(kind))
    for number, names in enumerate(levels):
        for name in names:
            tracks[name].paths[number] = name
    return tracks


_Levels: TypeAlias = list[dict[str, _Track]]
"""For each revision, the track of each of its declarations and anonymous shapes."""


def _types(schemas: Sequence[Schema]) -> _Levels:
    levels: _Levels = []
    left: dict[str, _Track] = {}
    for number, schema in enumerate(schemas):
        before = (
            {b: a for a, b in pair(schemas[number - 1], schema).names.items()} if number else {}
        )
        level: dict[str, _Track] = {}
        paths = places(schema)
        for name in schema.types:
            twin = before.get(name)
            track = levels[-1][twin] if twin is not None else left.pop(name, None)
            level[name] = track or _Track("declaration")
            _stand(level[name], number, schema.types[name], paths[name])
        if levels:
            kept = {id(track) for track in level.values()}
            left |= {name: track for name, track in levels[-1].items() if id(track) not in kept}
        levels.append(level)
    return levels


def _stand(track: _Track, number: int, declaration: Struct | Alias, path: str) -> None:
    track.paths[number] = path
    if is_inline(declaration):
        track.inline.add(number)


def _tracks_of(levels: _Levels, number: int, finding: Finding) -> Iterator[_Track]:
    """The declarations which contain or inherit a finding."""
    change = finding.change
    new, old = levels[number], levels[number - 1]
    if change.owner is not None:
        for _, name in (change.owner, *change.heirs):
            yield new[name]
            around = _TOP.match(new[name].paths[number])
            if around is not None and around[0] in new:
                yield new[around[0]]
    elif change.key[0] == "declaration":
        yield (new if change.key[1] == "added" else old)[change.path]


# ---- one thing, closer


def related_rows(history: History, row: Row) -> tuple[Row, ...]:
    """The row, and for a method its declarations in its newest revision."""
    if row.kind != "method":
        return (row,)
    newest = max(n for n, cell in enumerate(row.cells) if cell.path)
    schema = history.sides[newest].schema
    method = next(m for m in schema.methods if m.name == row.name)
    named = [
        Ref(method.type),
        *_references(schema, method.params),
        *_references(schema, method.result),
    ]
    rows = {cell: r for r in history.rows if (cell := r.cells[newest].path) and r.kind != "method"}
    return (row, *(rows[ref.name] for ref in dict.fromkeys(named) if ref.name in rows))


def _references(schema: Schema, type: Type | None) -> Iterator[Ref]:
    match type:
        case Ref():
            yield type
        case Uni():
            for arm in type.arms:
                yield from _references(schema, arm)
        case _:
            return


def members(history: History, row: Row) -> tuple[Row, ...]:
    """A row for each member of a declaration, including members of inline shapes inside it."""
    levels = [
        list(dict.fromkeys(_members(side.schema, cell)))
        for side, cell in zip(history.sides, row.cells, strict=True)
    ]
    named = _by_name("member", levels)
    for number, cell in enumerate(row.cells):
        for finding in cell.findings:
            inside = _inside(row, number, finding)
            if (owner := _deepest(named, inside)) is not None:
                named[owner].add(number, finding)
    order = {name: number for number, name in enumerate(named)}
    tops = {name: next((t for t in order if _lies_in(name, t)), name) for name in named}
    tracks = sorted(named.values(), key=lambda track: order[tops[track.name]])
    return tuple(track.row(len(history.sides)) for track in tracks)


def _lies_in(name: str, top: str) -> bool:
    return name.startswith(top) and name[len(top) :][:1] in (".", ITEM[0], VALUE[0])


def _members(schema: Schema, cell: Cell) -> Iterator[str]:
    """The paths of members below the cell's own, including shapes inside it."""
    paths = places(schema)
    for name, struct in schema.structs.items():
        path = paths[name]
        if path == cell.path or (struct.place and _lies_in(path, cell.path)):
            yield from (f"{path[len(cell.path) :]}.{member.wire}" for member in struct.fields)


def _inside(row: Row, number: int, finding: Finding) -> str:
    """Where in the row's declaration a finding lies: `.member.nested`, or nothing."""
    change = finding.change
    for side, path in ((number, change.path), (number - 1, change.was)):
        head = row.cells[side].path
        if head and _lies_in(path, head):
            return path[len(head) :]
    return "".join(map(path_step, change.steps))


def _deepest(known: Mapping[str, _Track], inside: str) -> str | None:
    """The longest known path equal to `inside` or around it."""
    around = (path for path in known if inside == path or _lies_in(inside, path))
    return max(around, key=len, default=None)


# ---- for machines


def document(history: History, names: Sequence[str] = ()) -> dict[str, Any]:
    """The history as JSON; with names, theirs alone, with members and findings:

    {"format": 1, "revisions": [name], "rows": [{"kind", "name", "cells": [cell], "members"?}]},
    a cell being {"state", "path", "inline", "severity", "findings"?}.
    """
    if names:
        asked = [r for name in names for r in related_rows(history, history.row(name))]
        once = {(row.kind, row.name): row for row in asked}.values()
        rows = [_row(row, True) | _with_members(history, row) for row in once]
    else:
        rows = [_row(row, False) for row in history.rows]
    return {"format": 1, "revisions": [side.name for side in history.sides], "rows": rows}


def _with_members(history: History, row: Row) -> dict[str, Any]:
    return {"members": [_row(member, False) for member in members(history, row)]}


def _row(row: Row, closely: bool) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "name": row.name,
        "cells": [_cell(cell, closely) for cell in row.cells],
    }


def _cell(cell: Cell, closely: bool) -> dict[str, Any]:
    described = {
        "state": cell.state,
        "path": cell.path,
        "inline": cell.inline,
        "severity": cell.severity(),
    }
    findings = {"findings": [_finding(f) for f in cell.findings]} if closely else {}
    return described | findings


def _finding(finding: Finding) -> dict[str, Any]:
    change = finding.change
    return {
        "rule": finding.rule.id,
        "severity": finding.severity,
        "path": change.path,
        "old": change.old.text,
        "new": change.new.text,
    }
