"""Generates JSON instances of a schema's types: valid ones, and ones with a single known fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

from hypothesis import strategies as st

from mcp_bindgen.ir import unions
from mcp_bindgen.ir.model import Arr, Limits, Lit, Schema, Type
from mcp_bindgen.ir.walk import strip_bounds
from tests.support.reach import ANOTHER_TAG, Reach, faults, limits_of
from tests.support.sample_values import (
    FLOATS,
    INTS,
    JSON,
    PLAIN,
    WRONG,
    long_text,
    numbers_within,
    outside,
)
from tests.support.valid_instances import Drawn, Hand, Made, Path, Seeded, Site, ValidInstances

__all__ = [
    "JSON",
    "Case",
    "Drawn",
    "Fault",
    "Generator",
    "Hand",
    "Made",
    "Seeded",
    "cases",
    "instances",
    "more",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong, and where. Another arm of the union at `around`, if any, may take it."""

    at: Path
    name: str
    around: Path | None


@dataclass(frozen=True, slots=True)
class Case:
    """An instance for a type; without a fault it is valid."""

    type: str
    value: JSON
    fault: Fault | None = None


class Generator(ValidInstances):
    """Makes valid instances, and breaks them at one site."""

    def __init__(self, schema: Schema, hand: Hand, reach: Reach | None = None) -> None:
        super().__init__(schema, hand, reach)
        self._faults: dict[tuple[Type, bool], tuple[str, ...]] = {}

    def ways(self, site: Site) -> tuple[str, ...]:
        """The faults that the value at a site can be given."""
        if site.tags:
            return (ANOTHER_TAG,)
        key = (site.type, site.required)
        if key not in self._faults:
            self._faults[key] = faults(self.schema, *key)
        return self._faults[key]

    def broken(self, name: str, made: Made, site: Site, fault: str) -> Case:
        """`made` with the value at `site` broken; `made` itself stays as it is."""
        self.reach.hit(f"{site.spot}: {fault}")
        if fault == "missing":
            value = _without(made.value, site.at)
        else:
            value = _with(made.value, site.at, self.bad(site, fault))
        return Case(name, value, Fault(site.at, fault, site.around))

    def bad(self, site: Site, fault: str) -> JSON:
        if fault == ANOTHER_TAG:
            return self.one(site.tags)
        if fault.startswith("is "):
            return self.one(WRONG[fault[3:]])
        if fault.endswith(" literal"):
            return self.one(self.strangers(site.type))
        limits = limits_of(self.schema, site.type)
        assert limits is not None
        return self.beyond(site, limits, fault.removeprefix("beyond "))

    def strangers(self, type: Type) -> list[JSON]:
        """Strings or numbers next to the literals of a type, none of them one of it."""
        known = [
            o.value
            for arm in unions.arms(self.schema, type)
            if isinstance(o := strip_bounds(self.schema, arm), Lit)
        ]
        near: list[JSON] = []
        for value in known:
            if isinstance(value, str):
                near += ["", f"{value}x", f" {value}", value.upper(), value[:-1], f"{value}\0"]
            else:
                near += [value + 1, value - 1, -value, value + 0.5, 0]
        return [value for value in near if value not in known]

    def broken_numbers(self, limits: Limits) -> list[JSON]:
        """Numbers within all limits but that they are not whole."""
        whole = numbers_within(replace(limits, integer=True, multiple_of=None), (*INTS, *FLOATS))
        free = replace(limits, integer=False, multiple_of=None)
        near = (value + by for value in whole if abs(value) < 2**50 for by in (0.5, -0.5))
        return [value for value in near if not outside(value, free)]

    def beyond(self, site: Site, limits: Limits, name: str) -> JSON:
        edge = getattr(limits, name)
        match name:
            case "minimum" if limits.integer:
                return self.one((ceil(edge) - 1, -(10**30)))
            case "maximum" if limits.integer:
                return self.one((floor(edge) + 1, 10**30))
            case "exclusive_minimum" | "exclusive_maximum":
                return self.one((edge,))
            case "integer":
                return self.one(self.broken_numbers(limits))
            case "minimum":
                return self.one((edge - 1, edge - 5e-324 if edge == 0 else edge - 0.5, -(10**30)))
            case "maximum":
                return self.one((edge + 1, edge + 1e-9, 1e308, 10**30))
            case "max_items":
                array = strip_bounds(self.schema, site.type)
                assert isinstance(array, Arr)
                known = len(self.sites)
                elements = self.array(array, site.spot, site.at, False, None, edge + 1)
                del self.sites[known:]
                return elements
            case "min_length" | "max_length":
                return long_text(limits, edge + (1 if name == "max_length" else -1))
            case "pattern":
                return self.one([t for t in PLAIN if not re.search(edge, t)])
            case _:
                raise NotImplementedError(f"{site.spot}: beyond {name}")


def _with(value: JSON, at: Path, new: JSON) -> JSON:
    """A copy of `value`, as deep as needed, with `new` at a place."""
    if not at:
        return new
    copy = value.copy()
    copy[at[0]] = _with(value[at[0]], at[1:], new)
    return copy


def _without(value: JSON, at: Path) -> JSON:
    copy = value.copy()
    if len(at) == 1:
        del copy[at[0]]
    else:
        copy[at[0]] = _without(value[at[0]], at[1:])
    return copy


def cases(generator: Generator, name: str, *, rounds: int = 300) -> Iterator[Case]:
    """Valid and broken instances of one declaration, until every feature and fault of it was seen.

    Stops after `rounds` valid instances in any case; what was missed is in the generator's reach.
    """
    hits = generator.reach.hits
    for _ in range(rounds):
        made = generator.valid(name)
        yield Case(name, made.value)
        for site in made.sites:
            for fault in generator.ways(site) if site.own else ():
                if not hits[f"{site.spot}: {fault}"]:
                    yield generator.broken(name, made, site, fault)
        if not generator.reach.missed(name):
            return


def more(generator: Generator, names: Sequence[str]) -> Iterator[Case]:
    """Instances without end, type after type: one valid, and it broken in three places."""
    while True:
        for name in names:
            made = generator.valid(name)
            yield Case(name, made.value)
            for _ in range(3):
                site = generator.one(made.sites)
                if ways := generator.ways(site):
                    yield generator.broken(name, made, site, generator.one(ways))


def instances(schema: Schema) -> st.SearchStrategy[Case]:
    """One instance of any type, valid or broken, by hypothesis."""
    names = sorted(declared.name for declared in schema.own_types)

    @st.composite
    def build(draw: Callable[..., Any]) -> Case:
        generator = Generator(schema, Drawn(draw))
        name = draw(st.sampled_from(names))
        made = generator.valid(name)
        site = generator.one(made.sites)
        ways = generator.ways(site)
        if ways and draw(st.booleans()):
            return generator.broken(name, made, site, generator.one(ways))
        return Case(name, made.value)

    return build()
