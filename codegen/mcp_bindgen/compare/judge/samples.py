"""JSON values of a type: the smallest, and small variants which differ from it in one place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from math import ceil, floor
from typing import Any, Final

from mcp_bindgen.compare.changes.assignable import leaves
from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Keyed,
    Limits,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.values.pattern_samples import words
from mcp_bindgen.ir.values.unlisted import takes
from mcp_bindgen.ir.walk import kinds, resolve_aliases, strip_bounds
from mcp_bindgen.json_values import list_of, object_of

__all__ = ["Samples", "UnmakeableError", "sample_name", "smallest", "weight"]

_DEEPEST: Final = 12
_LONGEST: Final = 10_000
_MOST_ITEMS: Final = 1_000
"""The longest text and the longest array made to reach a bound."""
_WORDS: Final = 3
"""Texts made of one pattern."""
_SAMPLES: Final[dict[str, tuple[Any, ...]]] = {
    "string": ("", "x", "https://example.com/"),
    "number": (0, 1, -1, 0.5, 10**9),
    "boolean": (False, True),
    "null": (None,),
    "object": ({}, {"key": 0}),
}
_ANY: Final[tuple[Any, ...]] = (None, {}, "", 0, False, [])


class UnmakeableError(Exception):
    """No finite value of the type can be made."""


def smallest(schema: Schema, type: Type) -> Any:
    """The smallest value of a type. Raises UnmakeableError."""
    return Samples(schema).smallest(type)


def weight(value: Any) -> int:
    """The number of JSON values inside a value, itself included."""
    values = [value]
    for inner in values:
        if isinstance(inner, (dict, list)):
            values += (object_of(inner) or {}).values() or list_of(inner) or ()
    return len(values)


@dataclass(eq=False)
class Samples:
    """Values of the types of one schema. Results are shared: do not change them."""

    schema: Schema
    _made: dict[tuple[Type, int], Any] = field(default_factory=dict[tuple[Type, int], Any])
    """By type and depth; UnmakeableError itself where nothing can be made."""

    # ---- the smallest

    def smallest(self, type: Type) -> Any:
        """The smallest value of a type. Raises UnmakeableError."""
        return self._smallest(type, 0)

    def _smallest(self, type: Type, depth: int) -> Any:
        key = type, depth
        if key not in self._made:
            try:
                self._made[key] = self._new(type, depth)
            except UnmakeableError:
                self._made[key] = UnmakeableError
        value = self._made[key]
        if value is UnmakeableError:
            raise UnmakeableError
        return value

    def _new(self, type: Type, depth: int) -> Any:
        if depth > _DEEPEST:
            raise UnmakeableError
        match opened := resolve_aliases(self.schema, type):
            case Ref():
                need = (f for f in self.schema.structs[opened.name].fields if f.required)
                return {f.wire: self._smallest(f.type, depth + 1) for f in need}
            case Lit():
                return opened.value
            case Tup():
                places = (e.type for e in opened.of if not e.optional)
                return [self._smallest(place, depth + 1) for place in places]
            case Prim():
                return _SAMPLES.get(opened.name, _ANY)[0]
            case Bounded():
                return self._within(opened, depth)
            case Uni():
                return self._least(opened, depth)
            case _:
                return [] if "array" in kinds(self.schema, opened) else {}

    def _least(self, type: Uni, depth: int) -> Any:
        """The first literal among the arms; without literals, the shortest of the arms' smallest
        values.
        """
        arms = leaves(self.schema, type)
        literals = [arm.value for arm in arms if isinstance(arm, Lit)]
        if literals:
            return literals[0]
        values: list[Any] = []
        for arm in arms:
            with suppress(UnmakeableError):
                values.append(self._smallest(arm, depth + 1))
        if not values:
            raise UnmakeableError
        return min(values, key=lambda value: len(json.dumps(value)))

    def _within(self, type: Bounded, depth: int) -> Any:
        for value in self._candidates(type, depth):
            if accepts(self.schema, type, value):
                return value
        raise UnmakeableError

    def _candidates(self, type: Bounded, depth: int) -> Iterator[Any]:
        with suppress(UnmakeableError):
            yield self._smallest(type.of, depth + 1)
        for leaf in leaves(self.schema, type.of):
            opened = resolve_aliases(self.schema, leaf)
            if isinstance(opened, Prim):
                yield from _SAMPLES.get(opened.name, _ANY)
            else:
                with suppress(UnmakeableError):
                    yield self._smallest(leaf, depth + 1)
            yield from self.edges(leaf, type.limits, depth)

    # ---- near bounds

    def edges(self, type: Type, limits: Limits, depth: int = 0) -> Iterator[Any]:
        """Values at the bounds, and on either side of them."""
        yield from _edge_numbers(limits)
        if limits.pattern is not None:
            yield from islice(words(limits.pattern), _WORDS)
        for size in (limits.min_length, limits.max_length):
            if size is not None and size < _LONGEST:
                yield from ("x" * size, "x" * (size + 1), "x" * max(0, size - 1))
        opened = strip_bounds(self.schema, type)
        if isinstance(opened, Arr):
            with suppress(UnmakeableError):
                item = self._smallest(opened.of, depth + 1)
                for size in (limits.min_items, limits.max_items):
                    if size is not None and size < _MOST_ITEMS:
                        yield from ([item] * size, [item] * (size + 1), [item] * max(0, size - 1))

    # ---- variants

    def variants(self, type: Type, depth: int = 3) -> Iterator[Any]:
        """Values of a type, smallest first, each with one extra part; none if no value can be
        made.
        """
        try:
            yield self.smallest(type)
        except UnmakeableError:
            return
        if depth > 0:
            with suppress(UnmakeableError):
                yield from self._others(type, depth)

    def _others(self, type: Type, depth: int) -> Iterator[Any]:
        match opened := resolve_aliases(self.schema, type):
            case Ref():
                yield from self._objects(self.schema.structs[opened.name], depth)
            case Arr():
                yield from ([value] for value in self.variants(opened.of, depth - 1))
            case Map():
                yield from ({"key": value} for value in self.variants(opened.of, depth - 1))
            case Tup():
                yield from self._tuples(opened, depth)
            case Prim():
                yield from _SAMPLES.get(opened.name, _ANY)[1:]
            case Bounded():
                yield from self._in_bounds(opened, depth)
            case Uni():
                for leaf in leaves(self.schema, opened):
                    yield from self.variants(leaf, depth - 1)
            case _:
                return

    def _in_bounds(self, type: Bounded, depth: int) -> Iterator[Any]:
        for value in self.variants(type.of, depth):
            if accepts(self.schema, type, value):
                yield value
        for leaf in leaves(self.schema, type.of):
            for value in self.edges(leaf, type.limits):
                if accepts(self.schema, type, value):
                    yield value

    def _objects(self, struct: Struct, depth: int) -> Iterator[Any]:
        base = self.smallest(Ref(struct.name))
        for field_ in struct.fields:
            for value in self.variants(field_.type, depth - 1):
                yield {**base, field_.wire: value}
        if struct.index is not None:
            for value in self.variants(struct.index, depth - 1):
                yield {**base, "key": value}
        for keyed in struct.keyed:
            name = sample_name(keyed)
            if name is not None and name not in base:
                for value in self.variants(keyed.type, depth - 1):
                    yield {**base, name: value}

    def _tuples(self, type: Tup, depth: int) -> Iterator[Any]:
        full = [self.smallest(element.type) for element in type.of]
        yield full
        for number, element in enumerate(type.of):
            for value in self.variants(element.type, depth - 1):
                yield [*full[:number], value, *full[number + 1 :]]
        if type.rest is not None:
            yield from ([*full, value] for value in self.variants(type.rest, depth - 1))


def sample_name(keyed: Keyed) -> str | None:
    """A name which matches the template of an index signature; None if none is easily found."""
    return next((name for name in words(keyed.pattern) if takes(keyed, name)), None)


def _edge_numbers(limits: Limits) -> Iterator[int | float]:
    bounds = (
        limits.minimum,
        limits.maximum,
        limits.exclusive_minimum,
        limits.exclusive_maximum,
    )
    for bound in bounds:
        if bound is not None:
            yield from (bound, bound + 1, bound - 1, bound + 0.5, bound - 0.5)
            yield from (floor(bound), ceil(bound))
