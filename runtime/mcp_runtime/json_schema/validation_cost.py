"""How much work a JSON Schema makes of a value: counted before a validator does it.

A small schema can keep a validator busy for ever: where a subschema is reached in two ways, each
level of the schema or of the value doubles the visits. Here each subschema meets each part of the
value once, and how often it would is summed up.

Source: 2026-07-28 basic/index, "JSON Schema Usage".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias, cast
from urllib.parse import unquote, urldefrag, urljoin

from mcp_runtime.limits import SCHEMA_VISITS

__all__ = ["Unfollowed", "Work", "worker"]

_Object: TypeAlias = dict[str, Any]

# Keywords: what of a value their schemas judge, and whether they hold one, a list, or named ones.
_SAME: Final = ("not", "if", "then", "else")
_SAME_LISTED: Final = ("allOf", "anyOf", "oneOf")
_SAME_NAMED: Final = ("dependentSchemas", "dependencies")
_EACH_MEMBER: Final = ("additionalProperties", "unevaluatedProperties")
_EACH_ITEM: Final = ("items", "contains", "additionalItems", "unevaluatedItems")
_LISTED: Final = ("prefixItems", "items", *_SAME_LISTED)
_NAMED: Final = ("properties", "patternProperties", *_SAME_NAMED)
_KEPT: Final = ("$defs", "definitions")
_ONE: Final = (*_SAME, *_EACH_MEMBER, *_EACH_ITEM, "propertyNames")

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
"""With them a validator looks at what it has looked at."""
_DIALECTS: Final = ("https://json-schema.org/", "http://json-schema.org/")
"""Schemas that validators know; they do no harm."""
_MOST_PAIRS: Final = 1_000_000
_FEW: Final = 10_000
_OFTEN: Final = 8


class Unfollowed(Exception):
    """A reference that leads nowhere."""


class Work(NamedTuple):
    """`visits` of subschemas to parts of a value, and how many `pairs` of them there are.

    Of what is too much only a part is counted.
    """

    visits: int
    pairs: int

    @property
    def is_too_much(self) -> bool:
        return self.visits > SCHEMA_VISITS

    @property
    def is_fair(self) -> bool:
        """Whether few visits are made again: what went wrong can be told at no great cost."""
        return self.visits <= max(_FEW, _OFTEN * self.pairs)


def worker(schema: Any) -> Callable[[Any], Work]:
    """Counts the work for values of that schema. Raises Unfollowed."""
    references = _References(schema)

    def work(value: Any) -> Work:
        size = _size(value)
        if references.unfolded * size <= SCHEMA_VISITS:  # there each meets each but once
            return Work(int(references.unfolded) * size, references.size * size)
        count = _Count(references)
        try:
            return Work(count.visits(schema, value), count.pairs)
        except (_TooMuch, RecursionError):
            return Work(SCHEMA_VISITS + 1, count.pairs)

    return work


# ---- schemas


class _References:
    """Where the references of a schema lead.

    `size` is the number of subschemas; `unfolded` is the number when what a reference leads to
    stands in its place, which is infinite if it leads back to itself.
    """

    def __init__(self, schema: Any) -> None:
        self.size = 0
        self._places: dict[str, Any] = {}
        self._schemas: dict[int, _Object] = {}
        self._from: dict[int, list[Any]] = {}
        self._unread: list[tuple[_Object, str]] = []
        """Those whose references are not followed yet, each with its base."""
        self._walk(schema, "")
        self._places.setdefault("", schema)
        while self._unread:
            found, base = self._unread.pop()
            self._from[id(found)] = [*self._follow(found, base)]
        self.leaves: Final = {
            key for key, found in self._schemas.items() if not [*_in_place(found, self)]
        }
        """The ids of those that judge a value by nothing but themselves."""
        self._sizes: dict[int, float] = {}
        try:
            self.unfolded = self._unfold(schema)
        except RecursionError:
            self.unfolded = inf

    def _unfold(self, schema: Any) -> float:
        if not isinstance(schema, dict):
            return 1
        held = cast("_Object", schema)
        if id(held) not in self._sizes:
            self._sizes[id(held)] = inf
            parts = (*_applied(held), *self.led(held))
            self._sizes[id(held)] = _weight(held) * (1 + sum(map(self._unfold, parts)))
        return self._sizes[id(held)]

    def led(self, schema: _Object) -> list[Any]:
        return self._from[id(schema)]

    def _walk(self, schema: Any, base: str) -> None:
        waiting = [(schema, base)]
        while waiting:
            found, base = waiting.pop()
            self.size += 1
            if isinstance(found, dict) and id(cast("_Object", found)) not in self._schemas:
                held = cast("_Object", found)
                base = self._name(held, base)
                self._schemas[id(held)] = held
                self._unread.append((held, base))
                waiting += [(each, base) for each in _held(held)]

    def _name(self, schema: _Object, base: str) -> str:
        if isinstance(name := schema.get("$id"), str):
            base = urljoin(base, name)
            self._places.setdefault(urldefrag(base).url, schema)
        for key in _ANCHORS:
            if isinstance(anchor := schema.get(key), str):
                self._places.setdefault(f"{urldefrag(base).url}#{anchor}", schema)
        return base

    def _follow(self, schema: _Object, base: str) -> Iterator[Any]:
        for key in _REFERENCES:
            if not isinstance(reference := schema.get(key), str):
                continue
            target = urljoin(base, reference) or base
            if target.startswith(_DIALECTS) and urldefrag(target).url not in self._places:
                continue
            found = self._place(target, reference)
            self._walk(found, base)
            yield found

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


def _held(schema: _Object) -> Iterator[Any]:
    """The subschemas that stand in a schema."""
    yield from _applied(schema)
    for key in _KEPT:
        yield from _named(schema.get(key)).values()


def _applied(schema: _Object) -> Iterator[Any]:
    """Those that judge a value, or parts of it."""
    yield from (schema[key] for key in _ONE if isinstance(schema.get(key), dict | bool))
    for key in _LISTED:
        yield from _list(schema.get(key))
    for key in _NAMED:
        yield from _named(schema.get(key)).values()


def _weight(schema: _Object) -> int:
    return 2 if any(key in schema for key in _UNEVALUATED) else 1


def _list(found: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", found) if isinstance(found, list) else ()


def _named(found: Any) -> _Object:
    return cast("_Object", found) if isinstance(found, dict) else {}


# ---- values


def _size(value: Any) -> int:
    """Its parts, itself among them, and the names of members."""
    size, left = 0, [value]
    while left:
        found = left.pop()
        size += 1
        if isinstance(found, dict):
            held = cast("_Object", found)
            size += len(held)
            left += held.values()
        elif isinstance(found, list):
            left += _list(found)
    return size


class _TooMuch(Exception):
    """It need not be counted on."""


class _Count:
    """Visits to one value. The schema and the value live on meanwhile, so their ids name them."""

    def __init__(self, references: _References) -> None:
        self.pairs = 0
        self._references = references
        self._known: dict[tuple[int, int], int] = {}

    def visits(self, schema: object, value: object) -> int:
        """Of that schema and all below it. Raises _TooMuch."""
        self.pairs += 1
        pair = id(schema), id(value)
        if pair[0] in self._references.leaves and not isinstance(value, dict | list):
            return 1
        if not isinstance(schema, dict):
            return 1
        if pair in self._known:
            self.pairs -= 1
            return self._known[pair]
        self._known[pair] = 1  # where it leads back to itself, a validator stops
        visits = 1
        for below, part in _below(cast("_Object", schema), value, self._references):
            visits += self.visits(below, part)
            if visits > SCHEMA_VISITS or self.pairs > _MOST_PAIRS:
                raise _TooMuch
        self._known[pair] = visits * _weight(cast("_Object", schema))
        return self._known[pair]


def _below(schema: _Object, value: Any, references: _References) -> Iterator[tuple[Any, Any]]:
    """The subschemas that a schema has judge a value or its parts."""
    for found in _in_place(schema, references):
        yield found, value
    if isinstance(value, dict):
        for name, part in cast("_Object", value).items():
            for found in _of_member(schema, name):
                yield found, part
            if "propertyNames" in schema:
                yield schema["propertyNames"], name
    elif isinstance(value, list):
        for place, part in enumerate(_list(value)):
            for found in _of_item(schema, place):
                yield found, part


def _in_place(schema: _Object, references: _References) -> Iterator[Any]:
    yield from (schema[key] for key in _SAME if key in schema)
    for key in _SAME_LISTED:
        yield from _list(schema.get(key))
    for key in _SAME_NAMED:
        yield from _named(schema.get(key)).values()
    yield from references.led(schema)


def _of_member(schema: _Object, name: str) -> Iterator[Any]:
    properties = _named(schema.get("properties"))
    if name in properties:
        yield properties[name]
    yield from _named(schema.get("patternProperties")).values()
    yield from (schema[key] for key in _EACH_MEMBER if key in schema)


def _of_item(schema: _Object, place: int) -> Iterator[Any]:
    for key in ("prefixItems", "items"):
        listed = _list(schema.get(key))
        yield from listed[place : place + 1]
    yield from (schema[key] for key in _EACH_ITEM if isinstance(schema.get(key), dict | bool))
