"""What a test run over a schema must cover, found by walking its declarations, and what it covered.

A *place* is a position in a declaration that holds a JSON value, named as `Tool.icons[]`: members
by wire name, `[]` for elements, `{}` for values of a map, `|1` for what is inside the second arm.
A *feature* is a choice at a place: `Tool.icons: absent`, `ToolChoice.mode: arm 2`. A *fault* is a
way to break the value there: `Tool.name: is null`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from mcp_bindgen.ir import unions
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
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
from mcp_bindgen.ir.walk import kinds, strip_bounds

__all__ = [
    "ANOTHER_TAG",
    "KINDS",
    "Place",
    "Reach",
    "bounds",
    "extras",
    "faults",
    "features",
    "is_struct",
    "limits_of",
    "places",
    "python_names",
]

KINDS: Final = ("null", "boolean", "number", "string", "array", "object")
ANOTHER_TAG: Final = "another arm's tag"

_SHAPES: Final = {
    "string": ("plain", "odd"),
    "number": ("int", "float"),
    "boolean": ("true", "false"),
    "object": ("empty", "filled"),
    "null": (),
}


@dataclass(frozen=True, slots=True)
class Place:
    """`required`: it is a member that must be present; `optional`: one that may be absent."""

    spot: str
    type: Type
    required: bool = False
    optional: bool = False


def places(schema: Schema, name: str) -> Iterator[Place]:
    """The places of one declaration, not of what it refers to; first the whole."""
    declaration = schema.types[name]
    if isinstance(declaration, Alias):
        yield from _inside(Place(name, declaration.type))
        return
    yield Place(name, Ref(name))
    for member in declaration.fields:
        spot = f"{name}.{member.wire}"
        yield from _inside(Place(spot, member.type, member.required, not member.required))
    if declaration.index is not None:
        yield from _inside(Place(f"{name}{{}}", declaration.index))


def _inside(place: Place) -> Iterator[Place]:
    if place.type == Uni(()):  # never: no value stands there
        return
    yield place
    yield from _below(place.spot, place.type)


def _below(spot: str, type: Type) -> Iterator[Place]:
    match type:
        case Bounded():
            yield from _below(spot, type.of)
        case Arr():
            yield from _inside(Place(f"{spot}[]", type.of))
        case Map():
            yield from _inside(Place(f"{spot}{{}}", type.of))
        case Tup():
            for number, element in enumerate(type.of):
                yield from _inside(Place(f"{spot}[{number}]", element.type))
            if type.rest is not None:
                yield from _inside(Place(f"{spot}[]", type.rest))
        case Uni():
            for number, arm in enumerate(type.arms):
                yield from _below(f"{spot}|{number}", arm)
        case _:
            return


def features(schema: Schema, place: Place) -> Iterator[str]:
    """What valid values at a place must show, as full names."""
    if place.optional:
        yield f"{place.spot}: present"
        yield f"{place.spot}: absent"
    yield from _features(schema, place.spot, place.type)


def extras(struct: Struct) -> tuple[str, ...]:
    """The features of a struct as a whole: which unlisted members it has."""
    shapes = ("listed members only", "unknown members")
    return (*shapes, "python names") if python_names(struct) else shapes


def python_names(struct: Struct) -> tuple[str, ...]:
    """The Python names of members that are nobody's wire name."""
    return tuple(f.name for f in struct.fields if struct.field(f.name) is None)


def _features(schema: Schema, spot: str, type: Type) -> Iterator[str]:
    """Where a declared union or the like stands, it is looked into as if it were written there."""
    match type:
        case Ref(name=name) if isinstance(target := schema.types[name], Alias):
            yield from _features(schema, spot, target.type)
        case Bounded():
            yield from (f"{spot}: {bound}" for bound in bounds(type.limits))
            if type.limits.pattern is None:
                yield from _features(schema, spot, type.of)
            else:
                yield f"{spot}: match"
        case Uni():
            for number, arm in enumerate(type.arms):
                yield f"{spot}: arm {number}"
                yield from _features(schema, f"{spot}|{number}", arm)
        case Map(of=Uni(arms=())):
            return
        case Arr() | Map():
            yield from (f"{spot}: {shape}" for shape in ("empty", "filled"))
        case Prim(name=name):
            shapes = KINDS if name in JSON_PRIMS else _SHAPES[name]
            yield from (f"{spot}: {shape}" for shape in shapes)
        case _:
            return


def bounds(limits: Limits) -> tuple[str, ...]:
    """The bounds that a value can sit on exactly."""
    table = {
        "minimum": limits.minimum,
        "maximum": limits.maximum,
        "min_items": limits.min_items,
        "max_items": limits.max_items,
        "min_length": limits.min_length,
        "max_length": limits.max_length,
    }
    return tuple(f"at {name}" for name, value in table.items() if value is not None)


def faults(schema: Schema, type: Type, required: bool) -> tuple[str, ...]:
    """The ways to break a value of `type`."""
    own = kinds(schema, type)
    wanted = ["missing"] if required else []
    wanted += [f"is {kind}" for kind in KINDS if kind not in own]
    leaves = [strip_bounds(schema, leaf) for leaf in unions.arms(schema, type)]
    for kind in ("string", "number"):
        of_kind = [leaf for leaf in leaves if kind in kinds(schema, leaf)]
        if of_kind and all(isinstance(leaf, Lit) for leaf in of_kind):
            wanted.append(f"unknown {kind} literal")
    wanted += [f"beyond {name}" for name in _limited(schema, type)]
    return tuple(wanted)


def _limited(schema: Schema, type: Type) -> tuple[str, ...]:
    limits = limits_of(schema, type)
    if limits is None:
        return ()
    names = [bound.removeprefix("at ") for bound in bounds(limits)]
    names += ["exclusive_minimum"] if limits.exclusive_minimum is not None else []
    names += ["exclusive_maximum"] if limits.exclusive_maximum is not None else []
    names += ["integer"] if limits.integer else []
    names += ["pattern"] if limits.pattern else []
    return tuple(names)


def limits_of(schema: Schema, type: Type) -> Limits | None:
    """The limits on a type, through references to aliases."""
    while isinstance(type, Ref) and isinstance(target := schema.types[type.name], Alias):
        type = target.type
    return type.limits if isinstance(type, Bounded) else None


def tagged(schema: Schema, place: Place) -> Iterator[str]:
    """The faults of a union whose arms a constant tells apart: the constant of another arm."""
    yield from _tagged(schema, place.spot, place.type)


def _tagged(schema: Schema, spot: str, type: Type) -> Iterator[str]:
    match type:
        case Bounded():
            yield from _tagged(schema, spot, type.of)
        case Uni():
            structs = [arm for arm in type.arms if is_struct(schema, arm)]
            if unions.tag(schema, tuple(structs)) is not None:
                for number, arm in enumerate(type.arms):
                    if arm in structs:
                        yield f"{spot}|{number}: {ANOTHER_TAG}"
        case _:
            return


def is_struct(schema: Schema, type: Type) -> bool:
    return isinstance(strip_bounds(schema, type), Ref)


@dataclass
class Reach:
    """What was reached in one schema, by name of feature or fault."""

    schema: Schema
    hits: Counter[str] = field(default_factory=Counter[str])

    def hit(self, name: str) -> None:
        self.hits[name] += 1

    def features(self, name: str) -> set[str]:
        """What valid values of the declaration `name` must show."""
        wanted = {f for place in places(self.schema, name) for f in features(self.schema, place)}
        if (struct := self.schema.structs.get(name)) is not None:
            wanted.update(f"{name}: {shape}" for shape in extras(struct))
        return wanted

    def faults(self, name: str) -> set[str]:
        """What must have been broken in the declaration `name`."""
        wanted: set[str] = set()
        for place in places(self.schema, name):
            kinds = faults(self.schema, place.type, place.required)
            wanted.update(f"{place.spot}: {fault}" for fault in kinds)
            wanted.update(tagged(self.schema, place))
        return wanted

    def missed(self, name: str) -> set[str]:
        """What of the declaration `name` was not reached."""
        return {f for f in self.features(name) | self.faults(name) if not self.hits[f]}
