"""Counts the work of a JSON Schema on a value, before a validator does the work.

A small schema can keep a validator busy for ever: if a subschema is reached in two ways, each level
of the schema or of the value doubles the visits. Here each subschema meets each part of the value
once, and the visits of a validator are summed up.

Source: 2026-07-28 basic/index, "JSON Schema Usage".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias, cast
from urllib.parse import unquote, urldefrag, urljoin

from mcp_runtime.json_schema.walk import Schema, parts
from mcp_runtime.limits import SCHEMA_VISITS

_Judged: TypeAlias = Callable[[Any, Any], Iterable[Any]]

# Per keyword: the parts of an object, or of an array, judged by its schemas.
_OF_OBJECTS: Final[Mapping[str, _Judged]] = {
    "additionalProperties": lambda value, _: value.values(),
    "patternProperties": lambda value, _: value.values(),
    "properties": lambda value, key: (value[key],) if key in value else (),
    "propertyNames": lambda value, _: value,
    "unevaluatedProperties": lambda value, _: value.values(),
}
_OF_ARRAYS: Final[Mapping[str, _Judged]] = {
    "additionalItems": lambda value, _: value,
    "contains": lambda value, _: value,
    "items": lambda value, key: value if key is None else value[key : key + 1],
    "prefixItems": lambda value, key: value[key : key + 1],
    "unevaluatedItems": lambda value, _: value,
}
_NOT_JUDGING: Final = ("$defs", "contentSchema", "definitions")
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
"""Keywords for which a validator visits the parts twice."""
_DIALECTS: Final = ("https://json-schema.org/", "http://json-schema.org/")
"""Schemas built into validators; they are harmless."""
_MAX_PAIRS: Final = 1_000_000
_FEW: Final = 10_000
_OFTEN: Final = 8


class Unfollowed(Exception):
    """A reference without a target."""


class Work(NamedTuple):
    """The `visits` of subschemas to parts of a value, and the distinct `pairs` of the two.

    Excessive work is counted only in part.
    """

    visits: int
    pairs: int

    @property
    def is_fair(self) -> bool:
        """True if few visits are repeated, so that an explanation costs little more."""
        return self.visits <= max(_FEW, _OFTEN * self.pairs)


def worker(schema: Any) -> Callable[[Any], Work]:
    """Return a function which counts the work for a value of the schema. Raises Unfollowed."""
    document = _Document(schema)

    def work(value: Any) -> Work:
        size = _size(value)
        # The upper bound: every subschema, references replaced by their targets, meets every part
        # of the value. Most schemas stay below the limit even so, and nothing is counted for them.
        if document.unfolded * size <= SCHEMA_VISITS:
            return Work(int(document.unfolded) * size, document.size * size)
        count = _Count(document)
        try:
            return Work(count.visits(schema, value), count.pairs)
        except (_TooMuch, RecursionError):
            return Work(SCHEMA_VISITS + 1, count.pairs)

    return work


# ---- schemas


class _Node:
    """A subschema: the targets of its parts and references, by the values they judge."""

    __slots__ = ("base", "in_place", "of_arrays", "of_objects", "schema", "weight")

    def __init__(self, schema: Schema, base: str) -> None:
        self.schema = schema
        self.base = base
        self.weight = 2 if any(keyword in schema for keyword in _UNEVALUATED) else 1
        self.in_place: list[Any] = []
        self.of_objects: list[tuple[_Judged, Any, Any]] = []
        self.of_arrays: list[tuple[_Judged, Any, Any]] = []
        for keyword, key, part in parts(schema):
            if keyword in _OF_OBJECTS:
                self.of_objects.append((_OF_OBJECTS[keyword], key, part))
            elif keyword in _OF_ARRAYS:
                self.of_arrays.append((_OF_ARRAYS[keyword], key, part))
            elif keyword not in _NOT_JUDGING:
                self.in_place.append(part)

    @property
    def applied(self) -> list[Any]:
        """All subschemas for the value or parts of it."""
        return [*self.in_place, *(part for *_, part in (*self.of_objects, *self.of_arrays))]

    def below(self, value: Any) -> Iterator[tuple[Any, Any]]:
        """Yield each subschema for a value or its parts, with the value or the part."""
        for schema in self.in_place:
            yield schema, value
        by_kind = self.of_objects if isinstance(value, dict) else self.of_arrays
        for judged, key, schema in by_kind if isinstance(value, dict | list) else ():
            for part in judged(value, key):
                yield schema, part


class _Document:
    """A schema as a graph of its subschemas, its references followed.

    `size` is the number of subschemas; `unfolded` is their number with each reference replaced by
    its target, infinite for a recursive schema.
    """

    def __init__(self, schema: Any) -> None:
        self.size = 0
        self.nodes: dict[int, _Node] = {}
        self._places: dict[str, Any] = {}
        self._unfollowed: list[_Node] = []
        self._walk(schema, "")
        self._places.setdefault("", schema)
        while self._unfollowed:
            node = self._unfollowed.pop()
            node.in_place += self._follow(node)
        self._sizes: dict[int, float] = {}
        try:
            self.unfolded = self._unfold(schema)
        except RecursionError:
            self.unfolded = inf

    def _unfold(self, schema: Any) -> float:
        node = self.nodes.get(id(schema))
        if node is None:
            return 1
        if id(schema) not in self._sizes:
            self._sizes[id(schema)] = inf
            self._sizes[id(schema)] = node.weight * (1 + sum(map(self._unfold, node.applied)))
        return self._sizes[id(schema)]

    def _walk(self, schema: Any, base: str) -> None:
        waiting = [(schema, base)]
        while waiting:
            each, base = waiting.pop()
            self.size += 1
            if isinstance(each, dict) and id(cast("Schema", each)) not in self.nodes:
                held = cast("Schema", each)
                base = self._name(held, base)
                node = self.nodes[id(held)] = _Node(held, base)
                self._unfollowed.append(node)
                waiting += [(part.schema, base) for part in parts(held)]

    def _name(self, schema: Schema, base: str) -> str:
        if isinstance(name := schema.get("$id"), str):
            base = urljoin(base, name)
            self._places.setdefault(urldefrag(base).url, schema)
        for keyword in _ANCHORS:
            if isinstance(anchor := schema.get(keyword), str):
                self._places.setdefault(f"{urldefrag(base).url}#{anchor}", schema)
        return base

    def _follow(self, node: _Node) -> Iterator[Any]:
        for keyword in _REFERENCES:
            if not isinstance(reference := node.schema.get(keyword), str):
                continue
            target = urljoin(node.base, reference) or node.base
            if target.startswith(_DIALECTS) and urldefrag(target).url not in self._places:
                continue
            schema = self._place(target, reference)
            self._walk(schema, node.base)
            yield schema

    def _place(self, target: str, reference: str) -> Any:
        if target in self._places:
            return self._places[target]
        url, fragment = urldefrag(target)
        if url not in self._places or fragment[:1] not in ("", "/"):
            raise Unfollowed(f"the reference {reference[:200]!r} leads nowhere")
        return _at(self._places[url], fragment, reference)


def _at(schema: Any, pointer: str, reference: str) -> Any:
    for part in unquote(pointer).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            schema = schema[int(key) if isinstance(schema, list) else key]
        except (KeyError, IndexError, ValueError, TypeError):
            raise Unfollowed(f"the reference {reference[:200]!r} leads nowhere") from None
    return schema


# ---- values


def _size(value: Any) -> int:
    """Count the parts of a value, itself included, and the names of members."""
    size, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        size += 1
        if isinstance(each, dict):
            members = cast("dict[str, Any]", each)
            size += len(members)
            waiting += members.values()
        elif isinstance(each, list):
            waiting += each
    return size


class _TooMuch(Exception):
    """The limit is passed; counting ends."""


class _Count:
    """The count of visits to one value, whose parts are identified by `id`.

    The schema and the value outlive the count, so no `id` is reused.
    """

    def __init__(self, document: _Document) -> None:
        self.pairs = 0
        self._nodes = document.nodes
        self._known: dict[tuple[int, int], int] = {}

    def visits(self, schema: Any, value: Any) -> int:
        """Count the visits of a schema and its subschemas to a value. Raises _TooMuch."""
        self.pairs += 1
        pair = id(schema), id(value)
        node = self._nodes.get(pair[0])
        if node is None or not (node.in_place or isinstance(value, dict | list)):
            return 1
        if pair in self._known:
            self.pairs -= 1
            return self._known[pair]
        self._known[pair] = 1  # at a recursion to the same value a validator stops
        visits = 1
        for below, part in node.below(value):
            visits += self.visits(below, part)
            if visits > SCHEMA_VISITS or self.pairs > _MAX_PAIRS:
                raise _TooMuch
        self._known[pair] = visits * node.weight
        return self._known[pair]
