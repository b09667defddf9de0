"""JSON values of a type: the smallest, and small ones that differ from it in one thing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil, floor
from typing import Any, Final, TypeAlias

from mcp_bindgen.compare.accepts_all import leaves
from mcp_bindgen.compare.change import ITEM, VALUE
from mcp_bindgen.compare.travel import Step
from mcp_bindgen.ir.accepts import accepts
from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Field,
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
from mcp_bindgen.ir.walk import kinds, unaliased

__all__ = ["Pair", "UnmakeableError", "edges", "placed", "shared", "smallest", "variants"]

_DEEPEST: Final = 12
_TRIES: Final = 200
_SAMPLES: Final[dict[str, tuple[Any, ...]]] = {
    "string": ("", "x", "https://example.com/"),
    "number": (0, 1, -1, 0.5, 1e9),
    "boolean": (False, True),
    "null": (None,),
    "object": ({}, {"key": 0}),
}
_ANY: Final[tuple[Any, ...]] = (None, {}, "", 0, False, [])


class UnmakeableError(Exception):
    """No finite value of the type can be made."""


_Made: TypeAlias = dict[tuple[str, int], Any]
"""What was made of a name at a depth; UnmakeableError itself where nothing was."""


def smallest(schema: Schema, type: Type) -> Any:
    """The smallest value of a type. Raises UnmakeableError."""
    return _smallest(schema, type, 0, {})


def _smallest(schema: Schema, type: Type, depth: int, made: _Made) -> Any:
    if not isinstance(type, Ref):
        return _made_of(schema, type, depth, made)
    key = type.name, depth
    if key not in made:
        try:
            made[key] = _made_of(schema, type, depth, made)
        except UnmakeableError:
            made[key] = UnmakeableError
    if made[key] is UnmakeableError:
        raise UnmakeableError
    return made[key]


def _made_of(schema: Schema, type: Type, depth: int, made: _Made) -> Any:
    if depth > _DEEPEST:
        raise UnmakeableError
    match opened := unaliased(schema, type):
        case Ref():
            struct = schema.structs[opened.name]
            need = (f for f in struct.fields if f.required)
            return {f.wire: _smallest(schema, f.type, depth + 1, made) for f in need}
        case Lit():
            return opened.value
        case Tup():
            places = (e.type for e in opened.of if not e.optional)
            return [_smallest(schema, place, depth + 1, made) for place in places]
        case Prim():
            return _SAMPLES.get(opened.name, _ANY)[0]
        case Bounded():
            return _within(schema, opened, depth, made)
        case Uni():
            return _least(schema, opened, depth, made)
        case _:
            return [] if "array" in kinds(schema, opened) else {}


def _least(schema: Schema, type: Uni, depth: int, made: _Made) -> Any:
    """The smallest value among the arms, by the length of its JSON."""
    values: list[Any] = []
    for arm in type.arms:
        with suppress(UnmakeableError):
            values.append(_smallest(schema, arm, depth + 1, made))
    if not values:
        raise UnmakeableError
    return min(values, key=lambda value: len(json.dumps(value)))


def _within(schema: Schema, type: Bounded, depth: int, made: _Made) -> Any:
    for value in _candidates(schema, type, depth, made):
        if accepts(schema, type, value):
            return value
    raise UnmakeableError


def _candidates(schema: Schema, type: Bounded, depth: int, made: _Made) -> Iterator[Any]:
    with suppress(UnmakeableError):
        yield _smallest(schema, type.of, depth + 1, made)
    for leaf in leaves(schema, type.of):
        opened = unaliased(schema, leaf)
        if isinstance(opened, Prim):
            yield from _SAMPLES.get(opened.name, _ANY)
        else:
            with suppress(UnmakeableError):
                yield _smallest(schema, leaf, depth + 1, made)
        with suppress(UnmakeableError):
            yield from _edges(schema, leaf, type.limits, depth, made)


def edges(schema: Schema, of: Type, limits: Limits) -> Iterator[Any]:
    """Values at the bounds, and on either side of them. Raises UnmakeableError."""
    return _edges(schema, of, limits, 0, {})


def _edges(schema: Schema, of: Type, limits: Limits, depth: int, made: _Made) -> Iterator[Any]:
    numbers = (
        limits.minimum,
        limits.maximum,
        limits.exclusive_minimum,
        limits.exclusive_maximum,
    )
    for bound in numbers:
        if bound is not None:
            yield from (bound, bound + 1, bound - 1, bound + 0.5, bound - 0.5)
            yield from (floor(bound), ceil(bound))
    for size in (limits.min_length, limits.max_length):
        if size is not None and size < 10_000:
            yield from ("x" * size, "x" * (size + 1), "x" * max(0, size - 1))
    opened = unaliased(schema, of)
    for size in (limits.min_items, limits.max_items):
        if size is not None and size < 1_000 and isinstance(opened, Arr):
            item = _smallest(schema, opened.of, depth + 1, made)
            yield from ([item] * size, [item] * (size + 1), [item] * max(0, size - 1))


def variants(schema: Schema, type: Type, depth: int = 3) -> Iterator[Any]:
    """Values of a type, smallest first, each with one thing more."""
    try:
        yield smallest(schema, type)
    except UnmakeableError:
        return
    if depth == 0:
        return
    match opened := unaliased(schema, type):
        case Ref():
            yield from _object_variants(schema, schema.structs[opened.name], depth)
        case Arr():
            yield from ([value] for value in variants(schema, opened.of, depth - 1))
        case Map():
            yield from ({"key": value} for value in variants(schema, opened.of, depth - 1))
        case Tup():
            yield from _tuple_variants(schema, opened, depth)
        case Prim():
            yield from _SAMPLES.get(opened.name, _ANY)[1:]
        case Bounded():
            made = [*variants(schema, opened.of, depth), *edges(schema, opened.of, opened.limits)]
            yield from (value for value in made if accepts(schema, opened, value))
        case Uni():
            for leaf in leaves(schema, opened):
                yield from variants(schema, leaf, depth - 1)
        case _:
            return


def _object_variants(schema: Schema, struct: Struct, depth: int) -> Iterator[Any]:
    base = smallest(schema, Ref(struct.name))
    for field in struct.fields:
        for value in variants(schema, field.type, depth - 1):
            yield {**base, field.wire: value}
    if struct.index is not None:
        for value in variants(schema, struct.index, depth - 1):
            yield {**base, "key": value}


def _tuple_variants(schema: Schema, type: Tup, depth: int) -> Iterator[Any]:
    full = [smallest(schema, e.type) for e in type.of]
    yield full
    for number, element in enumerate(type.of):
        for value in variants(schema, element.type, depth - 1):
            yield [*full[:number], value, *full[number + 1 :]]
    if type.rest is not None:
        yield from ([*full, value] for value in variants(schema, type.rest, depth - 1))


@dataclass(frozen=True, slots=True)
class Pair:
    """Where a message is made: its writer's type, and its reader's where it has one."""

    writer: Schema
    reader: Schema
    of: Type
    read: Type | None

    def at(self, of: Type, read: Type | None) -> Pair:
        return replace(self, of=of, read=read)


def shared(pair: Pair) -> Any:
    """The smallest value that the writer may send and the reader takes; else the writer's smallest.

    Raises UnmakeableError.
    """
    if pair.read is not None:
        both = (pair.writer, pair.of), (pair.reader, pair.read)
        for value in islice(_hybrids(pair), _TRIES):
            if all(accepts(schema, type, value) for schema, type in both):
                return value
    return smallest(pair.writer, pair.of)


def _hybrids(pair: Pair) -> Iterator[Any]:
    of, read = _opened(pair.writer, pair.of), _opened(pair.reader, pair.read)
    if isinstance(of, Ref) and isinstance(read, Ref):
        with suppress(UnmakeableError):
            yield _base(pair, of, read)
    yield from variants(pair.writer, pair.of)
    if pair.read is not None:
        yield from variants(pair.reader, pair.read)


def _base(pair: Pair, of: Ref, read: Ref | None) -> dict[str, Any]:
    """The members that the writer must send, and those that the reader waits for."""
    mine = pair.writer.structs[of.name].fields
    theirs = {f.wire: f for f in pair.reader.structs[read.name].fields} if read else {}
    need = {f.wire: f.type for f in mine if f.required or _awaited(theirs.get(f.wire))}
    made = {
        wire: shared(pair.at(type, twin.type if (twin := theirs.get(wire)) else None))
        for wire, type in need.items()
    }
    rest = {w: f for w, f in theirs.items() if f.required and w not in made}
    return made | {wire: smallest(pair.reader, field.type) for wire, field in rest.items()}


def _awaited(field: Field | None) -> bool:
    return field is not None and field.required


def _opened(schema: Schema, type: Type | None) -> Type | None:
    while isinstance(type := unaliased(schema, type) if type else None, Bounded):
        type = type.of
    return type


def placed(pair: Pair, steps: tuple[Step, ...], side: int, last: Callable[[Pair], Any]) -> Any:
    """A value with what `last` makes at the end of `steps`, and around it what both sides take.

    `side` is 0 where the writer is the old schema, 1 where it is the new one. Raises
    UnmakeableError.
    """
    if not steps:
        return last(pair)
    step, rest = steps[0], steps[1:]
    if isinstance(step, tuple):
        return placed(pair.at(step[side], step[1 - side]), rest, side, last)
    of, read = _opened(pair.writer, pair.of), _opened(pair.reader, pair.read)
    match of:
        case Arr() if step == ITEM:
            inner = pair.at(of.of, read.of if isinstance(read, Arr) else None)
            return [placed(inner, rest, side, last)]
        case Map() if step == VALUE:
            inner = pair.at(of.of, read.of if isinstance(read, Map) else None)
            return {"key": placed(inner, rest, side, last)}
        case Tup() if step == ITEM and of.of:
            return [placed(pair.at(of.of[0].type, None), rest, side, last)]
        case Ref():
            return _member_placed(pair, of, read, steps, side, last)
        case Uni():
            return _arm_placed(pair.at(of, read), steps, side, last)
        case _:
            raise UnmakeableError


def _member_placed(
    pair: Pair,
    of: Ref,
    read: Type | None,
    steps: tuple[Step, ...],
    side: int,
    last: Callable[[Pair], Any],
) -> Any:
    step, rest = steps[0], steps[1:]
    assert isinstance(step, str)
    twin = read if isinstance(read, Ref) else None
    base = _base(pair, of, twin)
    struct = pair.writer.structs[of.name]
    other = pair.reader.structs[twin.name] if twin else None
    field = struct.field(step)
    if field is not None:
        read_field = other.field(step) if other else None
        inner = pair.at(field.type, read_field.type if read_field else None)
        return {**base, step: placed(inner, rest, side, last)}
    if step == VALUE and struct.index is not None:
        inner = pair.at(struct.index, other.index if other else None)
        return {**base, "key": placed(inner, rest, side, last)}
    raise UnmakeableError


def _arm_placed(pair: Pair, steps: tuple[Step, ...], side: int, last: Callable[[Pair], Any]) -> Any:
    choices = leaves(pair.reader, pair.read) if pair.read is not None else (None,)
    for arm in leaves(pair.writer, pair.of):
        for read in (*choices, None):
            try:
                return placed(pair.at(arm, read), steps, side, last)
            except UnmakeableError:
                continue
    raise UnmakeableError
