"""JSON Schema, as tools write it, read into types of the IR.

All schemas that hold at a place are read together, so references and `allOf` need no names, and
each place has a shape of its own; only what stands inside itself becomes a reference. What types
cannot say is kept as a remark at its place, to be compared as text: nothing is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from mcp_bindgen.ir.accepts import accepts
from mcp_bindgen.ir.model import (
    Alias,
    Arr,
    Bounded,
    Element,
    Field,
    Limits,
    Lit,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import disjoint
from mcp_bindgen.limits import MAX_DEPTH, MAX_LITERALS, MAX_PLACES
from mcp_bindgen.tools.json_document import JsonPath, Node, list_of, object_of

__all__ = ["Reader", "Remark", "canonical", "quoted"]

_PLAIN: Final = re.compile(r"[\w$/@:-]+\Z")
_NEVER: Final = Uni(())
_ANY: Final = Prim("unknown")
_KINDS: Final = ("string", "number", "boolean", "null", "array", "object")
_TYPES: Final = (*_KINDS, "integer")
_TEXTS: Final = ("title", "description")
_SILENT: Final = frozenset(
    (
        "$schema",
        "$id",
        "$comment",
        "$defs",
        "definitions",
        "$anchor",
        "$vocabulary",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "default",
        "format",
    )
)
"""What constrains nothing; `default`, `format` and `deprecated` are told as tags of members."""
_READ: Final = frozenset(
    (
        "type",
        "enum",
        "const",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "prefixItems",
        "additionalItems",
        "allOf",
        "anyOf",
        "oneOf",
        "$ref",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    )
)
_CONSTRAINTS: Final = _READ - {"$ref", "allOf"}
_OF_OBJECTS: Final = ("properties", "required", "additionalProperties")
_OF_ARRAYS: Final = ("items", "prefixItems", "additionalItems")
_IDLE: Final = {
    "uniqueItems": False,
    "nullable": False,
    "minProperties": 0,
    "unevaluatedItems": True,
    "unevaluatedProperties": True,
}
"""Keywords that we do not read, with the value that says nothing."""


def _is_schema(value: object) -> bool:
    return isinstance(value, dict | bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_size(value: object) -> bool:
    return _is_number(value) and isinstance(value, int) and 0 <= value < 2**53


def _is_list_of(holds: Callable[[Any], bool], least: int = 0) -> Callable[[Any], bool]:
    def check(value: Any) -> bool:
        items = list_of(value)
        return items is not None and len(items) >= least and all(map(holds, items))

    return check


def _is_table(value: Any) -> bool:
    members = object_of(value)
    return members is not None and all(map(_is_schema, members.values()))


def _is_type(value: object) -> bool:
    return isinstance(value, str) and value in _TYPES


_Check: TypeAlias = tuple[Callable[[Any], bool], str]
_SCHEMA: Final[_Check] = (_is_schema, "a schema (an object, true or false)")
_ARMS: Final[_Check] = (_is_list_of(_is_schema, 1), "a list of schemas, not empty")
_NUMBER: Final[_Check] = (_is_number, "a number")
_BOUND: Final[_Check] = (lambda v: _is_number(v) or isinstance(v, bool), "a number")
_SIZE: Final[_Check] = (_is_size, "a whole number from 0 to 2^53")
_SHAPES: Final[dict[str, _Check]] = {
    "type": (
        lambda v: _is_type(v) or _is_list_of(_is_type, 1)(v),
        f"one or some of {', '.join(_TYPES)}",
    ),
    "enum": (lambda v: isinstance(v, list), "a list"),
    "properties": (
        _is_table,
        "an object of schemas",
    ),
    "required": (_is_list_of(lambda v: isinstance(v, str)), "a list of names"),
    "additionalProperties": _SCHEMA,
    "items": (lambda v: _is_schema(v) or _is_list_of(_is_schema)(v), "a schema or a list of them"),
    "prefixItems": _ARMS,
    "additionalItems": _SCHEMA,
    "allOf": _ARMS,
    "anyOf": _ARMS,
    "oneOf": _ARMS,
    "$ref": (lambda v: isinstance(v, str), "a reference"),
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": _BOUND,
    "exclusiveMaximum": _BOUND,
    "minLength": _SIZE,
    "maxLength": _SIZE,
    "minItems": _SIZE,
    "maxItems": _SIZE,
}
"""What a keyword's value must be; the exclusive bounds of draft-04, true and false, are unread."""
_LOWER: Final = {
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "minLength": "min_length",
    "minItems": "min_items",
}
_UPPER: Final = {
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "maxLength": "max_length",
    "maxItems": "max_items",
}


def canonical(value: object) -> str:
    """JSON with sorted keys, ASCII only: equal texts are equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def quoted(name: str) -> str:
    """A name as a step of an id, which no other name or step can be read as."""
    return name if _PLAIN.match(name) else canonical(name)


@dataclass(frozen=True, slots=True)
class Remark:
    """A keyword that the type at a place does not say, and its value as canonical JSON.

    `part` of the tool is input, output, or nothing for what is beside its schemas.
    """

    path: str
    keyword: str
    value: str
    at: int
    tool: str
    part: str


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place of an instance: `path` for people, `id` with the alternative that it lies in.

    `level` has the schemas that are being read for this very value, outer ones first.
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
    """Reads the schemas of one side; what it made is in `declarations`, `unread` and `texts`.

    `unread` and `texts` are found by the place's id and the keyword; `seen` has the ids.
    """

    declarations: list[Struct | Alias] = field(default_factory=list[Struct | Alias])
    unread: dict[tuple[str, str], Remark] = field(default_factory=dict[tuple[str, str], Remark])
    texts: dict[tuple[str, str], Remark] = field(default_factory=dict[tuple[str, str], Remark])
    seen: set[str] = field(default_factory=set[str])
    places: int = 0

    def read(self, root: Node, tool: str, part: str) -> Type:
        """The type of a whole schema, that of a tool's `part`. Raises InputError."""
        spot = _Spot(f"{tool}.{part}", f"{quoted(tool)}.{part}")
        return _Reading(self, root, tool, part).read((root,), spot)


class _Reading:
    """One schema, within which references lead."""

    def __init__(self, made: Reader, root: Node, tool: str, part: str) -> None:
        self.made, self.root, self.tool, self.part = made, root, tool, part
        self.open: dict[frozenset[JsonPath], str] = {}
        self.recursive: set[frozenset[JsonPath]] = set()
        named = root.members.get("$schema")
        self.old_draft = isinstance(named, str) and any(f"draft-0{n}/" in named for n in (4, 6, 7))

    # ---- a place

    def read(self, nodes: Sequence[Node], spot: _Spot) -> Type:
        """What satisfies all of `nodes`."""
        self._count(nodes, spot)
        basics = self._flat(nodes)
        if any(node.value is False for node in basics):
            return _NEVER
        basics = [node for node in basics if isinstance(node.value, dict)]
        self._remark(basics, spot)
        key = frozenset(n.key for n in basics if n.members.keys() & _CONSTRAINTS)
        if key in spot.level:
            raise nodes[0].error("is an alternative of itself")
        if key in self.open:
            self.recursive.add(key)
            self._unread(spot, "$ref", self.open[key], nodes[0])
            return Ref(f"{self.open[key]}#")
        return self._opened(basics, spot, key)

    def _opened(self, basics: list[Node], spot: _Spot, key: frozenset[JsonPath]) -> Type:
        if not key:
            return _ANY
        self.open[key] = spot.id
        found = self._type(basics, spot, key)
        del self.open[key]
        if key in self.recursive:
            self.made.declarations.append(Alias(f"{spot.id}#", found, at=basics[0].at))
        return found

    def _count(self, nodes: Sequence[Node], spot: _Spot) -> None:
        self.made.places += 1
        self.made.seen.add(spot.id)
        if spot.depth > MAX_DEPTH:
            raise nodes[0].error(f"nests deeper than {MAX_DEPTH}")
        if self.made.places > MAX_PLACES:
            raise nodes[0].error(f"the schemas come to more than {MAX_PLACES} places")

    def _flat(self, nodes: Iterable[Node]) -> list[Node]:
        """The schemas themselves: references followed, `allOf` taken apart; none twice."""
        found: dict[JsonPath, Node] = {}
        queue: list[tuple[Node, tuple[JsonPath, ...]]] = [(node, ()) for node in nodes]
        while queue:
            node, chain = queue.pop(0)
            if node.key in chain:
                raise node.error("refers to itself")
            if node.key in found:
                continue
            found[node.key] = _checked(node)
            chain = (*chain, node.key)
            queue[:0] = [(inner, chain) for inner in self._conjuncts(node)]
        return [self._alone(node) for node in found.values()]

    def _conjuncts(self, node: Node) -> Iterator[Node]:
        """The schemas that a schema says hold too."""
        if (target := self._target(node)) is not None:
            yield target
        if not self._is_ref_alone(node):
            yield from (node.below("allOf", n) for n in range(len(node.members.get("allOf", ()))))

    def _alone(self, node: Node) -> Node:
        """A schema without its neighbours, where a draft says that a reference stands alone."""
        if self._is_ref_alone(node):
            return replace(node, value={"$ref": node.members["$ref"]})
        return node

    def _is_ref_alone(self, node: Node) -> bool:
        return self.old_draft and "$ref" in node.members

    def _target(self, node: Node) -> Node | None:
        """Where a reference within this schema leads; None without one, and for others."""
        ref = node.members.get("$ref")
        if ref is None or not (ref == "#" or ref.startswith("#/")):
            return None
        found = self.root
        for token in ref.split("/")[1:]:
            key = unquote(token).replace("~1", "/").replace("~0", "~")
            if key in found.members:
                found = found.below(key)
            elif isinstance(found.value, list) and key in map(str, range(len(found.items))):
                found = found.below(int(key))
            else:
                raise node.error(f"{canonical(ref)} leads nowhere")
        return _checked(found.require(*_SCHEMA))

    # ---- remarks

    def _remark(self, basics: Iterable[Node], spot: _Spot) -> None:
        for node in basics:
            for keyword, value in node.members.items():
                if keyword in _TEXTS and isinstance(value, str):
                    self._said(self.made.texts, spot, keyword, value, node)
                elif self._is_unread(node, keyword, value):
                    self._unread(spot, keyword, self._whole(value), node)

    def _is_unread(self, node: Node, keyword: str, value: object) -> bool:
        match keyword:
            case "$ref":
                return self._target(node) is None
            case "enum" | "const":
                return _literals(node) is None
            case "exclusiveMinimum" | "exclusiveMaximum":
                return isinstance(value, bool)
            case "$id":
                return node.path != self.root.path
            case "additionalProperties":
                return "patternProperties" in node.members
            case _:
                known = keyword in _READ or keyword in _SILENT or keyword in _TEXTS
                return not (known or keyword.startswith("x-") or _IDLE.get(keyword, ...) == value)

    def _unread(self, spot: _Spot, keyword: str, value: object, node: Node) -> None:
        self._said(self.made.unread, spot, keyword, value, node)

    def _said(
        self,
        table: dict[tuple[str, str], Remark],
        spot: _Spot,
        keyword: str,
        value: object,
        node: Node,
    ) -> None:
        text = canonical(value)
        at = node.below(keyword).at if keyword in node.members else node.at
        before = table.get((spot.id, keyword))
        if before is not None and before.value != text:
            text = " & ".join(sorted({*before.value.split(" & "), text}))
        table[spot.id, keyword] = Remark(spot.path, keyword, text, at, self.tool, self.part)

    def _whole(self, value: object) -> object:
        """A value with the schemas that it refers to, so that it differs where they do."""
        refs: dict[str, object] = {}
        queue = [replace(self.root, value=value)]
        while queue:
            node = queue.pop()
            ref = node.members.get("$ref")
            if isinstance(ref, str) and ref not in refs:
                target = self._target(node)
                refs[ref] = target.value if target else None
                queue += [target] if target else []
            queue += [replace(node, value=v) for v in (*node.members.values(), *node.items)]
        return [value, refs] if refs else value

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
        admitted, integer = _admitted(basics)
        limits = _limits(basics, integer)
        literals = [found for node in basics if (found := _literals(node)) is not None]
        if literals:
            return _listed(literals, _bounded(_union(_scalars(admitted)), limits))
        return _bounded(self._kinds(basics, admitted, spot), limits)

    def _alternatives(
        self, basics: list[Node], node: Node, keyword: str, spot: _Spot, key: frozenset[JsonPath]
    ) -> Type:
        """What satisfies one arm of `keyword`, and all the rest."""
        rest = [_without(n, keyword) if n is node else _constraints(n) for n in basics]
        arms = [node.below(keyword, n) for n in range(len(node.members[keyword]))]
        made = [
            self.read((*rest, arm), spot.arm(label, key))
            for arm, label in zip(arms, self._labels(arms), strict=True)
        ]
        if keyword == "oneOf" and self._overlap(made):
            self._unread(spot, keyword, self._whole(node.members[keyword]), node)
        return _hoisted(made)

    def _labels(self, arms: list[Node]) -> list[str]:
        """What tells alternatives apart: their JSON type where it is theirs alone, else a digest
        of the whole, so that equal ones have equal labels in whatever order."""
        types = [self._arm_type(arm) for arm in arms]
        return [
            kind if kind and types.count(kind) == 1 else self._digest(arm)
            for kind, arm in zip(types, arms, strict=True)
        ]

    def _arm_type(self, arm: Node) -> str:
        found = [n.members.get("type") for n in self._flat((arm,))]
        named = [kind for kind in found if isinstance(kind, str)]
        return named[0] if named else ""

    def _digest(self, arm: Node) -> str:
        text = canonical(self._whole({k: v for k, v in arm.members.items() if k not in _TEXTS}))
        return sha256(text.encode()).hexdigest()[:16]

    def _overlap(self, arms: list[Type]) -> bool:
        unfinished = [Alias(f"{id}#", _ANY) for id in self.open.values()]
        schema = Schema("", "", "", (*unfinished, *self.made.declarations))
        return any(not disjoint(schema, a, b) for n, a in enumerate(arms) for b in arms[n + 1 :])

    def _kinds(self, basics: list[Node], admitted: frozenset[str], spot: _Spot) -> Type:
        objects = _has(basics, _OF_OBJECTS)
        arrays = _has(basics, _OF_ARRAYS)
        if admitted == frozenset(_KINDS) and not objects and not arrays:
            return _ANY
        arms = _scalars(admitted)
        if "array" in admitted:
            arms.append(self._array(basics, spot) if arrays else Arr(_ANY))
        if "object" in admitted:
            arms.append(self._object(basics, spot))
        return _union(arms)

    def _object(self, basics: list[Node], spot: _Spot) -> Type:
        wires = dict.fromkeys(w for n in basics for w in n.members.get("properties", ()))
        required = dict.fromkeys(w for n in basics for w in n.members.get("required", ()))
        fields = [self._field(basics, wire, wire in required, spot) for wire in wires | required]
        beyond = [n.below("additionalProperties") for n in basics if _is_closing(n)]
        index = self.read(beyond, spot.below("{}")) if beyond else _ANY
        at = basics[0].at
        self.made.declarations.append(Struct(spot.id, tuple(fields), index, place=spot.path, at=at))
        return Ref(spot.id)

    def _field(self, basics: list[Node], wire: str, required: bool, spot: _Spot) -> Field:
        nodes = [
            node.below("properties", wire)
            if wire in node.members.get("properties", ())
            else node.below("additionalProperties")
            for node in basics
            if wire in node.members.get("properties", ()) or _is_closing(node)
        ]
        tags = {k: v for n in self._flat(nodes) for k, v in n.members.items()}
        return Field(
            wire,
            wire,
            self.read(nodes, spot.member(wire)) if nodes else _ANY,
            required,
            deprecated="" if tags.get("deprecated") is True else None,
            format=canonical(tags["format"]) if "format" in tags else None,
            default=canonical(tags["default"]) if "default" in tags else None,
            at=nodes[0].at if nodes else basics[0].at,
        )

    def _array(self, basics: list[Node], spot: _Spot) -> Type:
        parted = [
            self._items(node) for node in basics if any(k in node.members for k in _OF_ARRAYS)
        ]
        count = max(len(places) for places, _ in parted)
        beyond = [rest for _, rest in parted if rest is not None]
        rest = self.read(beyond, spot.below("[]")) if beyond else _ANY
        if not count:
            return Arr(rest)
        least = max((n.members.get("minItems", 0) for n in basics), default=0)
        places = [
            [p[number] if number < len(p) else r for p, r in parted] for number in range(count)
        ]
        elements = tuple(
            Element(self._place(found, spot.below(f"[{number}]")), number >= least)
            for number, found in enumerate(places)
        )
        return Tup(elements, None if rest == _NEVER else rest)

    def _place(self, nodes: Iterable[Node | None], spot: _Spot) -> Type:
        given = [node for node in nodes if node is not None]
        return self.read(given, spot) if given else _ANY

    def _items(self, node: Node) -> tuple[list[Node], Node | None]:
        """The schemas by place, and that of the items after them."""
        lists = (k for k in ("prefixItems", "items") if isinstance(node.members.get(k), list))
        listed = next(lists, "")
        places = [node.below(listed, n) for n in range(len(node.members[listed]))] if listed else []
        after = "additionalItems" if listed == "items" else "items"
        return places, node.below(after) if after in node.members else None


# ---- schemas


def _checked(node: Node) -> Node:
    """A schema whose keywords, those that we read, have values of their kind."""
    node.require(*_SCHEMA)
    for keyword in node.members.keys() & _SHAPES.keys():
        node.below(keyword).require(*_SHAPES[keyword])
    return node


def _is_closing(node: Node) -> bool:
    """Whether a schema says what unlisted members are; with patterns, it is not known which."""
    return "additionalProperties" in node.members and "patternProperties" not in node.members


def _constraints(node: Node) -> Node:
    """A schema without what is told once at its place: texts, and keywords that are not read."""
    if not isinstance(node.value, dict):
        return node
    kept = _CONSTRAINTS - (set() if _is_closing(node) else {"additionalProperties"})
    return replace(node, value={k: v for k, v in node.members.items() if k in kept})


def _without(node: Node, keyword: str) -> Node:
    kept = {k: v for k, v in _constraints(node).members.items() if k != keyword}
    return replace(node, value=kept, part=f"{node.part} without {keyword}")


def _has(basics: Iterable[Node], keywords: Iterable[str]) -> bool:
    return any(keyword in node.members for node in basics for keyword in keywords)


def _admitted(basics: Iterable[Node]) -> tuple[frozenset[str], bool]:
    """The kinds that all of the schemas admit, and whether numbers must be whole."""
    admitted, integer = frozenset(_KINDS), False
    for node in basics:
        told = node.members.get("type")
        if told is not None:
            types = {told} if isinstance(told, str) else set(told)
            integer = integer or ("integer" in types and "number" not in types)
            admitted &= {"number" if kind == "integer" else kind for kind in types}
    return admitted, integer and "number" in admitted


def _limits(basics: Iterable[Node], integer: bool) -> Limits:
    found: dict[str, Any] = {}
    for table, tightest in ((_LOWER, max), (_UPPER, min)):
        for keyword, name in table.items():
            told = [n.members[keyword] for n in basics if keyword in n.members]
            bounds = [bound for bound in told if not isinstance(bound, bool)]
            if bounds:
                found[name] = tightest(bounds)
    for name in ("min_length", "min_items"):
        if found.get(name) == 0:
            del found[name]
    return Limits(**found, integer=integer)


def _literals(node: Node) -> list[Any] | None:
    """The values that `enum` and `const` leave; None where they cannot be told one by one."""
    listed: list[Any] | None = node.members.get("enum")
    if "const" in node.members:
        const = node.members["const"]
        listed = [const] if listed is None or const in listed else []
    if listed is None or len(listed) > MAX_LITERALS:
        return None
    return None if any(isinstance(value, list | dict) for value in listed) else listed


def _listed(literals: list[list[Any]], base: Type) -> Type:
    """The values that are in all lists and of the type `base`."""
    empty = Schema("", "", "", ())
    common = [_literal(v) for v in literals[0] if accepts(empty, base, v)]
    others = [{_literal(v) for v in each} for each in literals[1:]]
    return _union(v for v in common if all(v in each for each in others))


def _literal(value: Any) -> Type:
    if value is None:
        return Prim("null")
    return Lit(int(value) if isinstance(value, float) and value.is_integer() else value)


# ---- types


def _scalars(admitted: frozenset[str]) -> list[Type]:
    return [Prim(kind) for kind in ("string", "number", "boolean", "null") if kind in admitted]


def _union(arms: Iterable[Type]) -> Type:
    flat = [leaf for arm in arms for leaf in (arm.arms if isinstance(arm, Uni) else (arm,))]
    found = tuple(dict.fromkeys(flat))
    return found[0] if len(found) == 1 else Uni(found)


def _bounded(type: Type, limits: Limits) -> Type:
    """The type within those limits that concern it."""
    kept = _concerning(type, limits)
    return type if kept == Limits() or type == _NEVER else Bounded(type, kept)


_CONCERNS: Final = {
    "number": ("minimum", "maximum", "exclusive_minimum", "exclusive_maximum", "integer"),
    "string": ("min_length", "max_length"),
    "array": ("min_items", "max_items"),
}


def _of(type: Type) -> frozenset[str]:
    """The kinds that a type takes; of what stands inside itself, none is left out."""
    match type:
        case Prim(name="unknown"):
            return frozenset(_KINDS)
        case Prim():
            return frozenset((type.name,))
        case Lit():
            return frozenset((_kind_of(type.value),))
        case Arr() | Tup():
            return frozenset(("array",))
        case Uni():
            return frozenset(kind for arm in type.arms for kind in _of(arm))
        case Bounded():
            return _of(type.of)
        case Ref() if type.name.endswith("#"):
            return frozenset(_KINDS)
        case _:
            return frozenset(("object",))


def _kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"


def _hoisted(arms: Sequence[Type]) -> Type:
    """The union of `arms`, with limits around the whole that concern one arm alone anyway."""
    outer: dict[str, Any] = {}
    inner: list[Type] = []
    for number, arm in enumerate(arms):
        if isinstance(arm, Bounded):
            others = _of(Uni((*arms[:number], *arms[number + 1 :])))
            shared = [n for kind in others for n in _CONCERNS.get(kind, ())]
            told = {n: getattr(arm.limits, n) for names in _CONCERNS.values() for n in names}
            outer |= {n: v for n, v in told.items() if n not in shared and v not in (None, False)}
            arm = _bounded(arm.of, Limits(**{n: v for n, v in told.items() if n in shared}))
        inner.append(arm)
    return _bounded(_union(inner), Limits(**outer))


def _concerning(type: Type, limits: Limits) -> Limits:
    names = [name for kind in _of(type) for name in _CONCERNS.get(kind, ())]
    return Limits(**{name: getattr(limits, name) for name in names})
