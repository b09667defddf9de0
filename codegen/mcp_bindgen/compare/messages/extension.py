"""Extensions: the direction of each method, and the types carried in messages of the core.

Types state neither; rows of decisions.toml do. A version without rows uses those of the other
versions, so even an unpinned file can be compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Literal

from mcp_bindgen.compare.changes.change import NOTHING, Change, Spot
from mcp_bindgen.compare.changes.pairing import Pairing
from mcp_bindgen.compare.messages.directions import OR, TO_CLIENT, TO_SERVER, Route, Way, back
from mcp_bindgen.ir.decisions.decisions import Decisions
from mcp_bindgen.ir.model import Alias, Method, Ref, Schema, Type, Uni
from mcp_bindgen.ir.walk import references

__all__ = [
    "Carried",
    "Rows",
    "carried_types",
    "lone_results",
    "routes_of",
    "two_way",
    "with_directions",
]


@dataclass(frozen=True, slots=True)
class Carried:
    """A type of an extension inside messages of its core: the part, the method, and the ways.
    `method` is empty for several methods.
    """

    name: str
    method: str
    part: str
    ways: frozenset[Way]


class Rows:
    """The decisions for one extension, by kind and path; a version's own rows take precedence."""

    def __init__(self, rows: Decisions, revision: str) -> None:
        name = revision.partition("@")[0]
        mine = [r for r in rows.rows.values() if r.revision.partition("@")[0] == name]
        self._rows: dict[str, dict[str, Mapping[str, Any]]] = {}
        for row in sorted(mine, key=lambda row: (row.revision == revision, row.revision)):
            self._rows.setdefault(row.kind, {})[row.path] = row.values

    def of(self, kind: str) -> Mapping[str, Mapping[str, Any]]:
        return self._rows.get(kind, {})

    @property
    def roles(self) -> tuple[str, ...]:
        rows = self.of("extension").values()
        return tuple(role for row in rows for role in row["roles"])


def with_directions(schema: Schema, rows: Rows) -> Schema:
    """`schema`, lowered by facts alone, with the direction and the result of each method.

    A method without a row travels like another message of its type, else in any way.
    """
    said = rows.of("method")
    ways = dict.fromkeys(str(row["direction"]) for row in said.values() if "direction" in row)
    unknown = OR.join(ways or (f"{a}-to-{b}" for a, b in permutations(rows.roles, 2)))
    methods = tuple(
        _add_direction(schema, m, said.get(m.name, {}), unknown) for m in schema.methods
    )
    return replace(schema, methods=methods)


def _add_direction(schema: Schema, method: Method, row: Mapping[str, Any], unknown: str) -> Method:
    names = [Ref(name) for name in row.get("result", ()) if name in schema.types]
    result: Type | None = Uni(tuple(names)) if len(names) > 1 else next(iter(names), method.result)
    direction = row.get("direction", unknown or method.direction)
    return replace(method, direction=direction, result=result)


def two_way(schema: Schema) -> tuple[Schema, tuple[Carried, ...]]:
    """`schema`, with two-way methods if no direction is known; and the objects outside these
    methods, which may answer a method of the core.
    """
    if any(method.direction != "none" for method in schema.methods):
        return schema, ()
    methods = tuple(replace(method, direction="both") for method in schema.methods)
    types = [type for m in methods for type in (Ref(m.type), m.result) if type is not None]
    reached = {name for type in types for name in _names_inside(schema, type)}
    ways = frozenset((TO_CLIENT, TO_SERVER))
    lone = [name for name in _tops(schema) if name not in reached]
    return replace(schema, methods=methods), tuple(Carried(n, "", "document", ways) for n in lone)


def carried_types(schema: Schema, rows: Rows, core: Schema) -> tuple[Carried, ...]:
    """The extension types carried in messages of the core; without methods, its documents."""
    made = [*_widening(schema, rows, core), *_members(schema, rows, core)]
    if not schema.methods and not made:
        made = [Carried(name, "", "document", frozenset({TO_CLIENT})) for name in _tops(schema)]
    return tuple(made)


def routes_of(pairing: Pairing, inside: Iterable[Carried]) -> Iterator[Route]:
    """The routes to the pairs of carried types."""
    for each in inside:
        name = each.name if each.name in pairing.names else pairing.old_names.get(each.name)
        if name is not None:
            pair = Ref(name), Ref(pairing.names[name])
            kind = "result" if each.part == "result" else ""
            yield Route(each.method, each.part, each.ways, *pair, kind=kind)


def lone_results(pairing: Pairing, inside: Iterable[Carried]) -> Iterator[tuple[Change, Route]]:
    """A change for each result type which only one version of the extension adds to a method."""
    for each in inside:
        if each.part == "result" and each.name in pairing.left:
            yield _lone(pairing.old, each, "old")
        if each.part == "result" and each.name in pairing.came:
            yield _lone(pairing.new, each, "new")


def _lone(schema: Schema, each: Carried, side: Literal["old", "new"]) -> tuple[Change, Route]:
    type = Ref(each.name)
    spot = Spot(each.name, type, schema.types[each.name].at)
    what, spots = ("removed", (spot, NOTHING)) if side == "old" else ("added", (NOTHING, spot))
    path = f"{each.method} result"
    change = Change(("arm", what, ""), path, *spots, method=each.method, root="result")
    route = Route(each.method, "result", each.ways, type, type, kind="result", side=side)
    return change, replace(route, surely=(False, False))


def _widening(schema: Schema, rows: Rows, core: Schema) -> Iterator[Carried]:
    directions = {m.name: m.direction for m in core.methods}
    for path, row in rows.of("widen").items():
        for name in row["result"]:
            if name in schema.types and path in directions:
                yield Carried(name, path, "result", frozenset({back(directions[path])}))


def _members(schema: Schema, rows: Rows, core: Schema) -> Iterator[Carried]:
    """The types of the members that the extension adds to core types. For a member inside an
    object, the type that holds the object.
    """
    for path, row in rows.of("member").items():
        owner, name = path.partition(".")[0], str(row["type"]).partition(".")[0]
        if owner in core.types and name in schema.types:
            carriers = list(_carriers(core, owner))
            methods = {method for method, _ in carriers}
            ways = frozenset(way for _, way in carriers)
            yield Carried(name, methods.pop() if len(methods) == 1 else "", path, ways)


def _carriers(core: Schema, owner: str) -> Iterator[tuple[str, Way]]:
    """Each method whose message contains the type `owner`, with the direction of the message."""
    for method in core.methods:
        if method.direction.count("-to-") != 1:
            continue
        if owner in _names_inside(core, Ref(method.type)):
            yield method.name, method.direction
        if method.result is not None and owner in _names_inside(core, method.result):
            yield method.name, back(method.direction)


def _names_inside(schema: Schema, type: Type) -> set[str]:
    """The names of everything inside values of a type."""
    names: set[str] = set()
    queue = [type]
    while queue:
        for name in {*references(queue.pop())} - names:
            names.add(name)
            declared = schema.types[name]
            if isinstance(declared, Alias):
                queue.append(declared.type)
            else:
                queue += [field.type for field in declared.fields]
                queue += declared.unlisted
    return names


def _tops(schema: Schema) -> list[str]:
    """The objects to which no other object refers."""
    inner = {n for s in schema.structs.values() for f in s.fields for n in references(f.type)}
    bases = {base for struct in schema.structs.values() for base in struct.bases}
    return [s.name for s in schema.structs.values() if s.name not in inner | bases]
