"""Tells which values a schema's types accept, by walking the IR, without generated models.

A struct accepts a JSON object with every required member; declared members have their types, and
unlisted members have the index signature's type, if any. A constant is a member with one value. A
union accepts the values of all arms.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias, assert_never

from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Arr,
    Bounded,
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
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.ir.values.unlisted import types_of

__all__ = ["Fault", "Path", "accepts", "fault", "faults"]

Path: TypeAlias = tuple[str | int, ...]

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Fault:
    """The place where a value is refused, and the expected text."""

    path: Path
    expected: str

    def __str__(self) -> str:
        return f"${''.join(map(_step, self.path))}: expected {self.expected}"


def _step(step: str | int) -> str:
    if isinstance(step, str) and _PLAIN.match(step):
        return f".{step}"
    return f"[{json.dumps(step, ensure_ascii=False)}]"


def accepts(schema: Schema, type: Type, value: Any) -> bool:
    """Return whether `value`, parsed JSON, is of `type`."""
    return fault(schema, type, value) is None


def fault(schema: Schema, type: Type, value: Any, path: Path = ()) -> Fault | None:
    """The first fault of `value`, parsed JSON at `path`, as `type`; None if it has none."""
    return next(faults(schema, type, value, path), None)


def faults(schema: Schema, type: Type, value: Any, path: Path = ()) -> Iterator[Fault]:
    """All faults of `value`, parsed JSON at `path`, as `type`; at most one fault for a union."""
    match type:
        case Prim():
            if not (type.name in JSON_PRIMS or _KINDS[type.name](value)):
                yield Fault(path, type.name)
        case Lit():
            if not _equal(type.value, value):
                yield Fault(path, _literal_text(type.value))
        case Ref():
            declared = schema.types[type.name]
            if isinstance(declared, Struct):
                yield from _struct(schema, declared, value, path)
            else:
                yield from faults(schema, declared.type, value, path)
        case Arr():
            yield from _array(schema, Tup((), type.of), value, path)
        case Tup():
            yield from _array(schema, type, value, path)
        case Map():
            yield from _map(schema, type.of, value, path)
        case Uni():
            yield from _union(schema, type, value, path)
        case Bounded():
            yield from faults(schema, type.of, value, path)
            yield from (Fault(path, bound) for bound in _out_of(type.limits, value))
        case _:
            assert_never(type)


def _struct(schema: Schema, struct: Struct, value: Any, path: Path) -> Iterator[Fault]:
    if not _KINDS["object"](value):
        yield Fault(path, f"an object ({struct.name})")
        return
    for field in struct.fields:
        if field.wire in value:
            yield from faults(schema, field.type, value[field.wire], (*path, field.wire))
        elif field.required:
            yield Fault((*path, field.wire), "a required member")
    if struct.open:
        listed = {field.wire for field in struct.fields}
        for key, item in value.items():
            if key not in listed:
                yield from _unlisted_faults(schema, struct, key, item, path)


def _unlisted_faults(
    schema: Schema, struct: Struct, key: str, item: Any, path: Path
) -> Iterator[Fault]:
    """The faults of a member to which only index signatures apply."""
    long = [k.longest for k in struct.keyed if k.longest is not None and len(key) > k.longest]
    if long:
        yield Fault((*path, key), f"a name of at most {min(long)} characters")
        return
    for type in types_of(struct, key):
        yield from faults(schema, type, item, (*path, key))


def _array(schema: Schema, type: Tup, value: Any, path: Path) -> Iterator[Fault]:
    if not _KINDS["array"](value):
        yield Fault(path, "an array")
        return
    least = sum(not place.optional for place in type.of)
    if len(value) < least or (type.rest is None and len(value) > len(type.of)):
        yield Fault(path, f"an array of {least} to {len(type.of)} items")
    for number, item in enumerate(value):
        of = type.of[number].type if number < len(type.of) else type.rest
        if of is not None:
            yield from faults(schema, of, item, (*path, number))


def _map(schema: Schema, of: Type, value: Any, path: Path) -> Iterator[Fault]:
    if not _KINDS["object"](value):
        yield Fault(path, "an object")
        return
    for key, item in value.items():
        yield from faults(schema, of, item, (*path, key))


def _union(schema: Schema, type: Uni, value: Any, path: Path) -> Iterator[Fault]:
    """The fault of the arm which came furthest, or else of the union itself."""
    refused: list[Fault] = []
    for arm in type.arms:
        first = fault(schema, arm, value, path)
        if first is None:
            return
        refused.append(first)
    deepest = max(refused, key=lambda f: len(f.path), default=Fault(path, "nothing"))
    rivals = [f for f in refused if len(f.path) == len(deepest.path)]
    yield deepest if len(rivals) < 2 else Fault(path, f"one of {len(refused)} alternatives")


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
}


def _equal(literal: Any, value: Any) -> bool:
    same_kind = isinstance(literal, bool) == isinstance(value, bool)
    return bool(same_kind and literal == value)


def _literal_text(literal: Any) -> str:
    return str(literal).lower() if isinstance(literal, bool) else repr(literal).replace("'", '"')


def _out_of(limits: Limits, value: Any) -> Iterator[str]:
    """Yield each bound `value` violates. Bounds on other JSON kinds are skipped."""
    if _KINDS["number"](value):
        bounds = (
            (limits.minimum, operator.ge, "at least"),
            (limits.maximum, operator.le, "at most"),
            (limits.exclusive_minimum, operator.gt, "more than"),
            (limits.exclusive_maximum, operator.lt, "less than"),
        )
        for bound, holds, word in bounds:
            if bound is not None and not holds(value, bound):
                yield f"{word} {bound}"
        if limits.integer and value != value // 1:
            yield "an integer"
        if limits.multiple_of is not None and not _is_multiple(value, limits.multiple_of):
            yield f"a multiple of {limits.multiple_of}"
    elif _KINDS["string"](value) or _KINDS["array"](value):
        name = "length" if _KINDS["string"](value) else "items"
        least, most = getattr(limits, f"min_{name}"), getattr(limits, f"max_{name}")
        if least is not None and len(value) < least:
            yield f"{name} of at least {least}"
        if most is not None and len(value) > most:
            yield f"{name} of at most {most}"
        if limits.unique_items and _KINDS["array"](value) and not _are_unique(value):
            yield "items that differ"
        if limits.pattern is not None and not _matches(limits.pattern, value):
            yield f"a string that matches {limits.pattern}"


def _matches(pattern: str, value: Any) -> bool:
    return not isinstance(value, str) or re.search(python_pattern(pattern), value) is not None


def _is_multiple(value: float, step: float) -> bool:
    """Return whether a number is a multiple of another, both taken as the decimals written."""
    return Decimal(str(value)) % Decimal(str(step)) == 0


def _are_unique(items: list[Any]) -> bool:
    """Return whether all items differ as JSON: 1 equals 1.0, but does not equal true."""
    return len({_key(item) for item in items}) == len(items)


def _key(value: Any) -> Any:
    if _KINDS["array"](value):
        return tuple(map(_key, value))
    if _KINDS["object"](value):
        return frozenset((name, _key(item)) for name, item in value.items())
    return isinstance(value, bool), value
