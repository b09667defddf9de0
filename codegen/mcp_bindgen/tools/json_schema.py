"""Reads the JSON Schemas of tools into types of the IR.

All schemas for one place are read together, so references and `allOf` need no names, and each place
has its own shape; only recursion becomes a reference. Keywords without a counterpart in the types
are kept as remarks at their place and compared as text, so nothing is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from mcp_bindgen.ir.model import Alias, Arr, Element, Field, Ref, Schema, Struct, Tup, Type
from mcp_bindgen.ir.unions import disjoint
from mcp_bindgen.ir.walk import PARTIAL
from mcp_bindgen.limits import MAX_DEPTH, MAX_PLACES
from mcp_bindgen.tools import remarks
from mcp_bindgen.tools.json_document import JsonPath, Node
from mcp_bindgen.tools.keywords import (
    CONSTRAINTS,
    OF_ARRAYS,
    OF_OBJECTS,
    TEXTS,
    canonical,
    closes,
    constrains,
    constraints,
    has_any,
    neighbours,
    without,
)
from mcp_bindgen.tools.references import References
from mcp_bindgen.tools.remarks import Remark, Remarks, quoted
from mcp_bindgen.tools.shapes import (
    ANY,
    KINDS,
    NEVER,
    admitted_kinds,
    bounded,
    bounds_of,
    common_literals,
    hoist,
    kinds_of_literals,
    literals_of,
    scalars,
    union,
)

__all__ = ["Reader"]


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place in an instance: `path` for people, `id` with the alternative around it.

    `level` holds the schemas currently being read for this value, outermost first.
    """

    path: str
    id: str
    depth: int = 0
    level: tuple[frozenset[JsonPath], ...] = ()

    def below(self, step: str) -> _Spot:
        return _Spot(self.path + step, self.id + step, self.depth + 1)

    def member(self, wire: str) -> _Spot:
        return _Spot(f"{self.path}.{wire}", f"{self.id}.{quoted(wire)}", self.depth + 1)

    def arm(self, label: str, key: frozenset[JsonPath]) -> _Spot:
        level = (*self.level, key)
        return replace(self, id=f"{self.id}|{label}", depth=self.depth + 1, level=level)


@dataclass
class Reader:
    """Reads the schemas of one side; the results are in `declarations`, `unread` and `texts`.

    `unread` has the keywords missing in the types, `texts` has titles and descriptions; `seen` has
    the ids of all places, `paths` the readable paths of types which accept too much, `names` the
    definitions of objects.
    """

    declarations: list[Struct | Alias] = field(default_factory=list[Struct | Alias])
    unread: Remarks = field(default_factory=Remarks)
    texts: Remarks = field(default_factory=Remarks)
    seen: set[str] = field(default_factory=set[str])
    paths: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    places: int = 0

    def read(self, root: Node, tool: str, part: str) -> Type:
        """Read the schema of a tool's `part` and return its type. Raises InputError."""
        spot = _Spot(f"{tool}.{part}", f"{quoted(tool)}.{part}")
        return _Reading(self, root, tool, part).read((root,), spot)


class _Reading:
    """Reads one schema, within which references are followed."""

    def __init__(self, results: Reader, root: Node, tool: str, part: str) -> None:
        self.results, self.root, self.tool, self.part = results, root, tool, part
        self.references = References(root)
        self.open: dict[frozenset[JsonPath], str] = {}
        self.recursive: set[frozenset[JsonPath]] = set()
        self.partial: set[str] = set()
        self.aliases: dict[str, Type] = {}

    # ---- a place

    def read(self, nodes: Sequence[Node], spot: _Spot) -> Type:
        """Read the type of a value which satisfies all of `nodes`."""
        self._count(nodes, spot)
        basics = self.references.flat(nodes)
        if any(node.value is False for node in basics):
            return NEVER
        basics = [node for node in basics if isinstance(node.value, dict)]
        self._remark_all(basics, spot)
        key = frozenset(n.key for n in basics if n.members.keys() & CONSTRAINTS)
        if key in spot.level:
            raise nodes[0].error("is an alternative of itself")
        if key in self.open:
            self.recursive.add(key)
            self._remark_recursion(nodes[0], self.open[key], spot)
            return Ref(f"{self.open[key]}#")
        return self._open(basics, spot, key)

    def _open(self, basics: list[Node], spot: _Spot, key: frozenset[JsonPath]) -> Type:
        if not key:
            return self._mark(ANY, basics, spot)
        self.open[key] = spot.id
        type = self._mark(self._type(basics, spot, key), basics, spot)
        del self.open[key]
        if key in self.recursive:
            self.results.declarations.append(Alias(f"{spot.id}#", type, at=basics[0].at))
        return type

    def _mark(self, type: Type, basics: Sequence[Node], spot: _Spot) -> Type:
        """Wrap the type in a named alias if it accepts more than the schemas do."""
        if spot.id not in self.partial or type == NEVER:
            return type
        name = f"{spot.id}{PARTIAL}"
        self.results.declarations.append(Alias(name, type, at=basics[0].at))
        self.results.paths[name] = spot.path
        self.aliases[name] = type
        return Ref(name)

    def _remark_recursion(self, node: Node, id: str, spot: _Spot) -> None:
        said = Remark(spot.path, "$ref", canonical(id), node.at, self.tool, self.part)
        remarks.add(self.results.unread, spot.id, said)

    def _count(self, nodes: Sequence[Node], spot: _Spot) -> None:
        self.results.places += 1
        self.results.seen.add(spot.id)
        if spot.depth > MAX_DEPTH:
            raise nodes[0].error(f"nests deeper than {MAX_DEPTH}")
        if self.results.places > MAX_PLACES:
            raise nodes[0].error(f"the schemas come to more than {MAX_PLACES} places")

    # ---- remarks

    def _remark_all(self, basics: Sequence[Node], spot: _Spot) -> None:
        declared = {wire: None for n in basics for wire in n.members.get("properties", ())}
        for node in basics:
            for keyword, value in node.members.items():
                if keyword in TEXTS and isinstance(value, str):
                    remarks.add(self.results.texts, spot.id, self._remark(node, keyword, spot))
                elif self._is_unread(node, keyword, value):
                    self._leave_unread(node, keyword, spot, declared)

    def _is_unread(self, node: Node, keyword: str, value: object) -> bool:
        match keyword:
            case "$ref":
                return self.references.target(node) is None
            case "enum" | "const":
                return literals_of(node) is None
            case "exclusiveMinimum" | "exclusiveMaximum":
                return isinstance(value, bool)
            case "$id":
                return node.path != self.root.path
            case "additionalProperties":
                return "patternProperties" in node.members
            case _:
                return constrains(keyword, value)

    def _leave_unread(
        self, node: Node, keyword: str, spot: _Spot, declared: Iterable[str] = ()
    ) -> None:
        """Record a keyword the type cannot express, and mark the type as too wide."""
        remark = self._remark(node, keyword, spot)
        beside = neighbours(node, keyword, declared)
        targets = self.references.targets([node.members[keyword], beside])
        context = canonical([targets, beside]) if targets or beside else ""
        remarks.add(self.results.unread, spot.id, replace(remark, context=context))
        self.partial.add(spot.id)

    def _remark(self, node: Node, keyword: str, spot: _Spot) -> Remark:
        value, at = canonical(node.members[keyword]), remarks.at_keyword(node, keyword)
        return Remark(spot.path, keyword, value, at, self.tool, self.part)

    # ---- types

    def _type(self, basics: list[Node], spot: _Spot, key: frozenset[JsonPath]) -> Type:
        groups = [
            (node, keyword)
            for node in basics
            for keyword in ("anyOf", "oneOf")
            if keyword in node.members
        ]
        if groups:
            return self._alternatives(basics, *groups[0], spot, key)
        admitted, integer = admitted_kinds(basics)
        admitted &= kinds_of_literals(basics)
        limits = bounds_of(basics, integer)
        lists = [values for node in basics if (values := literals_of(node)) is not None]
        if lists:
            return common_literals(lists, bounded(union(scalars(admitted)), limits))
        return bounded(self._kinds(basics, admitted, spot), limits)

    def _kinds(self, basics: list[Node], admitted: frozenset[str], spot: _Spot) -> Type:
        objects = has_any(basics, OF_OBJECTS)
        arrays = has_any(basics, OF_ARRAYS)
        if admitted == KINDS and not objects and not arrays:
            return ANY
        arms = scalars(admitted)
        if "array" in admitted:
            arms.append(self._array(basics, spot) if arrays else Arr(ANY))
        if "object" in admitted:
            arms.append(self._object(basics, spot))
        return union(arms)

    # ---- alternatives

    def _alternatives(
        self, basics: list[Node], node: Node, keyword: str, spot: _Spot, key: frozenset[JsonPath]
    ) -> Type:
        """The type of a value which satisfies one arm of `keyword` and all other schemas."""
        rest = [without(n, keyword) if n is node else constraints(n) for n in basics]
        arms = [node.below(keyword, n) for n in range(len(node.members[keyword]))]
        types = [
            self.read((*rest, arm), spot.arm(label, key))
            for arm, label in zip(arms, self._labels(arms), strict=True)
        ]
        if keyword == "oneOf" and self._overlap(types):
            self._leave_unread(node, keyword, spot)
        return hoist(types, self.aliases)

    def _labels(self, arms: list[Node]) -> list[str]:
        """A label for each alternative: its JSON type if unique, else a digest of the schema.

        Equal alternatives have equal labels in any order.
        """
        types = [self._arm_type(arm) for arm in arms]
        return [
            kind if kind and types.count(kind) == 1 else self._digest(arm)
            for kind, arm in zip(types, arms, strict=True)
        ]

    def _arm_type(self, arm: Node) -> str:
        types = [node.members.get("type") for node in self.references.flat((arm,))]
        return next((kind for kind in types if isinstance(kind, str)), "")

    def _digest(self, arm: Node) -> str:
        members = {k: v for k, v in arm.members.items() if k not in TEXTS}
        whole = canonical([members, self.references.targets(members)])
        return sha256(whole.encode()).hexdigest()[:16]

    def _overlap(self, arms: list[Type]) -> bool:
        unfinished = [Alias(f"{id}#", ANY) for id in self.open.values()]
        schema = Schema("", "", "", (*unfinished, *self.results.declarations))
        return any(not disjoint(schema, a, b) for n, a in enumerate(arms) for b in arms[n + 1 :])

    # ---- objects

    def _object(self, basics: list[Node], spot: _Spot) -> Type:
        wires = dict.fromkeys(w for n in basics for w in n.members.get("properties", ()))
        required = dict.fromkeys(w for n in basics for w in n.members.get("required", ()))
        fields = [self._field(basics, wire, wire in required, spot) for wire in wires | required]
        beyond = [n.below("additionalProperties") for n in basics if closes(n)]
        index = self.read(beyond, spot.below("{}")) if beyond else ANY
        at = basics[0].at
        if name := _definition(basics):
            self.results.names[spot.id] = name
        struct = Struct(spot.id, tuple(fields), index, place=spot.path, at=at)
        self.results.declarations.append(struct)
        return Ref(spot.id)

    def _field(self, basics: list[Node], wire: str, required: bool, spot: _Spot) -> Field:
        nodes = [
            node.below("properties", wire)
            if wire in node.members.get("properties", ())
            else node.below("additionalProperties")
            for node in basics
            if wire in node.members.get("properties", ()) or closes(node)
        ]
        tags = {k: v for n in self.references.flat(nodes) for k, v in n.members.items()}
        return Field(
            wire,
            wire,
            self.read(nodes, spot.member(wire)) if nodes else ANY,
            required,
            deprecated="" if tags.get("deprecated") is True else None,
            format=canonical(tags["format"]) if "format" in tags else None,
            default=canonical(tags["default"]) if "default" in tags else None,
            at=nodes[0].at if nodes else basics[0].at,
        )

    # ---- arrays

    def _array(self, basics: list[Node], spot: _Spot) -> Type:
        parted = [_items(node) for node in basics if has_any((node,), OF_ARRAYS)]
        count = max(len(places) for places, _ in parted)
        beyond = [rest for _, rest in parted if rest is not None]
        rest = self.read(beyond, spot.below("[]")) if beyond else ANY
        if not count:
            return Arr(rest)
        least = max((n.members.get("minItems", 0) for n in basics), default=0)
        elements = tuple(
            Element(self._place(parted, number, spot), number >= least) for number in range(count)
        )
        return Tup(elements, None if rest == NEVER else rest)

    def _place(
        self, parted: Sequence[tuple[list[Node], Node | None]], number: int, spot: _Spot
    ) -> Type:
        """The type of one array item, from the schemas for its place and for the rest."""
        nodes = [places[number] if number < len(places) else rest for places, rest in parted]
        given = [node for node in nodes if node is not None]
        return self.read(given, spot.below(f"[{number}]")) if given else ANY


def _definition(basics: Iterable[Node]) -> str:
    """The name of a definition which alone describes an object; empty for other objects."""
    paths = [node.path for node in basics if node.members.keys() & CONSTRAINTS]
    in_table = len(paths) == 1 and paths[0][-2:-1] in (("$defs",), ("definitions",))
    return str(paths[0][-1]) if in_table else ""


def _items(node: Node) -> tuple[list[Node], Node | None]:
    """The schemas of items by place, and the schema of the items after them."""
    lists = (k for k in ("prefixItems", "items") if isinstance(node.members.get(k), list))
    keyword = next(lists, "")
    places = [node.below(keyword, n) for n in range(len(node.members[keyword]))] if keyword else []
    after = "additionalItems" if keyword == "items" else "items"
    return places, node.below(after) if after in node.members else None
