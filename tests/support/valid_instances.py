"""Generates valid instances of a schema's types, guided by a seed or by hypothesis.

One generator, two hands that guide it. For the bulk it draws from `random.Random`, which costs a
twentieth of hypothesis and is repeated by its seed; hypothesis draws the same choices, so that a
failure shrinks. It prefers, in the type it was asked for, what its `Reach` has seen least: a
bounded run reaches everything.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar

from hypothesis import strategies as st

from mcp_bindgen.ir import unions
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
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
from mcp_bindgen.ir.walk import kinds, strip_bounds
from tests.support.reach import KINDS, Reach, extras, is_struct, python_names
from tests.support.sample_values import (
    FLOATS,
    INTS,
    JSON,
    KEYS,
    ODD,
    PLAIN,
    long_text,
    matching,
    numbers_within,
)

__all__ = ["Drawn", "Hand", "Made", "Path", "Seeded", "Site", "ValidInstances"]

Path: TypeAlias = tuple[str | int, ...]
Choice = TypeVar("Choice")

NODES: Final = (10, 60, 200)
"""How many values one instance may have, about; what is required is written beyond it too."""


class Hand(Protocol):
    """Where choices come from."""

    def below(self, n: int) -> int: ...


class Seeded:
    """Choices of a seed, the same in every run and on every machine."""

    def __init__(self, seed: int | str) -> None:
        self.random = random.Random(seed).random

    def below(self, n: int) -> int:
        return int(self.random() * n)


class Drawn:
    """Choices of hypothesis, which makes them small when a test fails."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def below(self, n: int) -> int:
        return self.draw(st.integers(0, n - 1)) if n > 1 else 0


@dataclass(frozen=True, slots=True)
class Site:
    """A value in an instance that was written for a place of the schema.

    `around` is the place of the outermost union above of which another arm might take it when it is
    broken, None where there is none. `own`: it belongs to the declaration that was asked for.
    """

    at: Path
    spot: str
    type: Type
    required: bool
    around: Path | None
    own: bool
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Made:
    value: JSON
    sites: Sequence[Site]


class ValidInstances:
    """Makes instances, and notes the site of each value in them."""

    def __init__(self, schema: Schema, hand: Hand, reach: Reach | None = None) -> None:
        self.schema = schema
        self.hand = hand
        self.reach = reach or Reach(schema)
        self.sites: list[Site] = []
        self.left = 0
        self._arms: dict[Uni, tuple[tuple[bool, str | None, tuple[str, ...]], ...]] = {}

    # ---- choices

    def one(self, options: Sequence[Choice]) -> Choice:
        return options[self.hand.below(len(options))]

    def odds(self, part: int, whole: int) -> bool:
        return self.hand.below(whole) < part

    def choose(self, spot: str, options: Sequence[str], own: bool) -> str:
        """One of the features of a place; where it is the type's own, rather one seen seldom."""
        candidates = options
        if own and self.odds(3, 4):
            hits = self.reach.hits
            least = min(hits[f"{spot}: {option}"] for option in options)
            candidates = [o for o in options if hits[f"{spot}: {o}"] == least]
        choice = self.one(candidates)
        self.reach.hit(f"{spot}: {choice}")
        return choice

    # ---- valid instances

    def valid(self, name: str) -> Made:
        """A valid instance of a declaration, and its sites."""
        self.sites, self.left = [], self.one(NODES)
        declaration = self.schema.types[name]
        type = Ref(name) if isinstance(declaration, Struct) else declaration.type
        value = self.value(type, name, (), own=True, around=None)
        return Made(value, self.sites)

    def value(
        self,
        type: Type,
        spot: str,
        at: Path,
        *,
        own: bool,
        around: Path | None,
        required: bool = False,
    ) -> JSON:
        """A value at a new site."""
        self.sites.append(Site(at, spot, type, required, around, own))
        self.left -= 1
        return self.fill(type, spot, at, own, around)

    def fill(self, type: Type, spot: str, at: Path, own: bool, around: Path | None) -> JSON:
        match type:
            case Prim():
                return self.prim(type.name, spot, own)
            case Lit():
                return type.value
            case Ref(name=name):
                declaration = self.schema.types[name]
                if isinstance(declaration, Struct):
                    return self.struct(declaration, at, own and name == spot, around)
                return self.fill(declaration.type, spot, at, own, around)
            case Arr():
                return self.array(type, spot, at, own, around, None)
            case Map():
                return self.map(type, spot, at, own, around)
            case Tup():
                return self.tuple(type, spot, at, own, around)
            case Uni():
                return self.union(type, spot, at, own, around)
            case Bounded():
                return self.bounded(type, spot, at, own, around)

    def prim(self, name: str, spot: str, own: bool) -> JSON:
        match name:
            case "string":
                return self.one(
                    PLAIN if self.choose(spot, ("plain", "odd"), own) == "plain" else ODD
                )
            case "number":
                return self.one(
                    INTS if self.choose(spot, ("int", "float"), own) == "int" else FLOATS
                )
            case "boolean":
                return self.choose(spot, ("true", "false"), own) == "true"
            case "null":
                return None
            case "object":
                filled = self.choose(spot, ("empty", "filled"), own) == "filled"
                return self.entries(2, 2) if filled else {}
            case _:
                assert name in JSON_PRIMS, name
                return self.any(self.choose(spot, KINDS, own), 3)

    def any(self, kind: str, depth: int) -> JSON:
        """Any JSON of one kind, at most `depth` deep, now and then much deeper."""
        match kind:
            case "null":
                return None
            case "boolean":
                return self.odds(1, 2)
            case "number":
                return self.one(INTS if self.odds(1, 2) else FLOATS)
            case "string":
                return self.one(PLAIN if self.odds(1, 2) else ODD)
            case "array":
                if depth and self.odds(1, 12):
                    return self.deep(30)
                return [self.some(depth - 1) for _ in range(self.hand.below(3) if depth else 0)]
            case _:
                return self.entries(self.hand.below(3), depth - 1) if depth > 0 else {}

    def some(self, depth: int) -> JSON:
        return self.any(self.one(KINDS), depth)

    def entries(self, count: int, depth: int) -> dict[str, JSON]:
        return {self.one(KEYS): self.some(depth) for _ in range(count)}

    def deep(self, levels: int) -> JSON:
        value: JSON = self.some(0)
        for _ in range(levels):
            value = [value] if self.odds(1, 2) else {self.one(KEYS): value}
        return value

    def struct(self, struct: Struct, at: Path, own: bool, around: Path | None) -> JSON:
        made: dict[str, JSON] = {}
        for field in struct.fields:
            spot = f"{struct.name}.{field.wire}"
            if field.type == Uni(()):
                continue
            if field.required or self.present(spot, own, len(at)):
                made[field.wire] = self.value(
                    field.type,
                    spot,
                    (*at, field.wire),
                    own=own,
                    around=around,
                    required=field.required,
                )
        self.extra(struct, made, at, own, around)
        return made

    def present(self, spot: str, own: bool, depth: int) -> bool:
        if own:
            return self.choose(spot, ("present", "absent"), own) == "present"
        wanted = self.left > 0 and self.odds(1, 2 + depth // 2)
        self.reach.hit(f"{spot}: {'present' if wanted else 'absent'}")
        return wanted

    def extra(
        self, struct: Struct, made: dict[str, JSON], at: Path, own: bool, around: Path | None
    ) -> None:
        """Members that the declaration does not list; they must not change what it says.

        Among them those called as a listed member is in Python: on the wire that is another name.
        """
        shape = self.choose(struct.name, extras(struct), own)
        if shape == "listed members only":
            return
        keys = python_names(struct) if shape == "python names" else KEYS
        for key in dict.fromkeys(self.one(keys) for _ in range(1 + self.hand.below(2))):
            if struct.field(key) is not None:
                continue
            if struct.index is None:
                made[key] = self.some(2)
            else:
                spot = f"{struct.name}{{}}"
                made[key] = self.value(struct.index, spot, (*at, key), own=own, around=around)

    def count(self, spot: str, own: bool) -> int:
        """How many elements: none, or one to three."""
        if not own and self.left <= 0:
            return 0
        return (
            0 if self.choose(spot, ("empty", "filled"), own) == "empty" else 1 + self.hand.below(3)
        )

    def array(
        self, type: Arr, spot: str, at: Path, own: bool, around: Path | None, count: int | None
    ) -> JSON:
        count = self.count(spot, own) if count is None else count
        return [
            self.value(type.of, f"{spot}[]", (*at, i), own=own, around=around) for i in range(count)
        ]

    def map(self, type: Map, spot: str, at: Path, own: bool, around: Path | None) -> JSON:
        count = 0 if type.of == Uni(()) else self.count(spot, own)
        keys = dict.fromkeys(self.one(KEYS) for _ in range(count))
        return {
            key: self.value(type.of, f"{spot}{{}}", (*at, key), own=own, around=around)
            for key in keys
        }

    def tuple(self, type: Tup, spot: str, at: Path, own: bool, around: Path | None) -> JSON:
        required = sum(not element.optional for element in type.of)
        count = required + self.hand.below(len(type.of) - required + 1)
        made = [
            self.value(element.type, f"{spot}[{i}]", (*at, i), own=own, around=around)
            for i, element in enumerate(type.of[:count])
        ]
        if type.rest is not None and count == len(type.of):
            for i in range(count, count + self.hand.below(3)):
                made.append(self.value(type.rest, f"{spot}[]", (*at, i), own=own, around=around))
        return made

    def union(self, type: Uni, spot: str, at: Path, own: bool, around: Path | None) -> JSON:
        number = int(self.choose(spot, [f"arm {i}" for i in range(len(type.arms))], own)[4:])
        alone, tag, others = self.arms(type)[number]
        if tag is not None and others:
            there = (*at, tag)
            here = at if around is None else around
            self.sites.append(Site(there, f"{spot}|{number}", type, False, here, own, others))
        if not alone and around is None:
            around = at
        return self.fill(type.arms[number], f"{spot}|{number}", at, own, around)

    def arms(self, type: Uni) -> tuple[tuple[bool, str | None, tuple[str, ...]], ...]:
        """For each arm: whether no other can take it when broken; its tag, the others' tags."""
        if type not in self._arms:
            self._arms[type] = tuple(self._arm(type, arm) for arm in type.arms)
        return self._arms[type]

    def _arm(self, type: Uni, arm: Type) -> tuple[bool, str | None, tuple[str, ...]]:
        schema = self.schema
        structs = tuple(other for other in type.arms if is_struct(schema, other))
        tag = unions.tag(schema, structs) if arm in structs else None
        if tag is not None:
            mine = _constant(schema, arm, tag)
            others = [_constant(schema, other, tag) for other in structs]
            return True, tag, tuple(t for t in others if t != mine)
        mine_kinds = kinds(schema, arm)
        alone = all(not mine_kinds & kinds(schema, o) for o in type.arms if o is not arm)
        return alone, None, ()

    def bounded(self, type: Bounded, spot: str, at: Path, own: bool, around: Path | None) -> JSON:
        limits, of = type.limits, type.of
        match strip_bounds(self.schema, of):
            case Prim(name="number"):
                return self.number(limits, spot, own)
            case Prim(name="string"):
                return self.text(limits, spot, own)
            case Arr() as array:
                low, high = limits.min_items or 0, limits.max_items
                shapes = ("empty", "filled") if low == 0 else ("filled",)
                ends = [n for n in ("min_items", "max_items") if getattr(limits, n) is not None]
                shape = self.choose(spot, (*shapes, *(f"at {end}" for end in ends)), own)
                count = {"empty": 0, "at min_items": low, "at max_items": high or 0}.get(
                    shape, min(low + 1 + self.hand.below(3), high or 10**9)
                )
                return self.array(array, spot, at, own, around, count)
            case _:
                raise NotImplementedError(f"{spot}: bounds on {of}")

    def number(self, limits: Limits, spot: str, own: bool) -> JSON:
        low, high = limits.minimum, limits.maximum
        shapes = ["int", "float"]
        shapes += ["at minimum"] if low is not None else []
        shapes += ["at maximum"] if high is not None else []
        shape = self.choose(spot, shapes, own)
        if shape.startswith("at "):
            edge = low if shape == "at minimum" else high
            assert edge is not None
            return self.one(numbers_within(limits, (int(edge), float(edge))))
        return self.one(numbers_within(limits, INTS if shape == "int" else FLOATS))

    def text(self, limits: Limits, spot: str, own: bool) -> JSON:
        ends = [f"at {n}" for n in ("min_length", "max_length") if getattr(limits, n) is not None]
        shapes = ["plain", "odd"] if limits.pattern is None else ["match"]
        shape = self.choose(spot, [*shapes, *ends], own)
        if shape.startswith("at "):
            return long_text(limits, getattr(limits, shape[3:]))
        texts = matching(limits.pattern) if limits.pattern else PLAIN if shape == "plain" else ODD
        low, high = limits.min_length or 0, limits.max_length
        return self.one([t for t in texts if low <= len(t) <= (high or len(t))])


def _constant(schema: Schema, arm: Type, tag: str) -> str:
    opened = strip_bounds(schema, arm)
    assert isinstance(opened, Ref)
    field: Field | None = schema.structs[opened.name].field(tag)
    assert field is not None
    assert isinstance(field.const, str)
    return field.const
