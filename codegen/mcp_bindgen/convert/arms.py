"""Finds which arm of the other revision's union an arm becomes: by its name, tag or shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mcp_bindgen.ir.model import Bounded, Field, Lit, Map, Prim, Ref, Schema, Struct, Type
from mcp_bindgen.ir.unions import literals, tag
from mcp_bindgen.ir.walk import is_any, kinds, strip_bounds, struct_of

__all__ = ["ArmPairs", "arm_name", "is_object", "value_of"]


@dataclass(frozen=True, slots=True)
class ArmPairs:
    """Pairs the types of one revision with those of its neighbour by name, tag or shape."""

    source: Schema
    target: Schema
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """The methods with another name in the target."""

    def namesake(
        self, struct: Struct, leaves: tuple[Type, ...], targets: tuple[Type, ...]
    ) -> Struct | None:
        """The arm with the same name, else the arm with the same tag."""
        named = (other for other in self.structs(targets) if other.name == struct.name)
        return next(named, None) or self._with_same_tag(struct, leaves, targets)

    def _with_same_tag(
        self, struct: Struct, leaves: tuple[Type, ...], targets: tuple[Type, ...]
    ) -> Struct | None:
        """The arm with the same tag, if one member tells the arms of both sides apart."""
        here = [leaf for leaf in leaves if struct_of(self.source, leaf)]
        there = [t for t in targets if struct_of(self.target, t)]
        wire = tag(self.source, tuple(here))
        mine = struct.field(wire) if wire is not None else None
        if mine is None or wire is None or tag(self.target, tuple(there)) != wire:
            return None
        const = self.renamed.get(str(mine.const), mine.const) if wire == "method" else mine.const
        others = self.structs(targets)
        return next((o for o in others if (g := o.field(wire)) and g.const == const), None)

    def structs(self, targets: tuple[Type, ...]) -> Iterator[Struct]:
        return (o for t in targets if (o := struct_of(self.target, t)) is not None)

    def best_fit(self, struct: Struct, targets: tuple[Type, ...]) -> Struct | None:
        """Return the arm which requires most members of `struct`; None if each contradicts it."""
        others = [other for other in self.structs(targets) if self._fits(struct, other)]
        return max(others, key=lambda other: sum(f.required for f in other.fields), default=None)

    def alike(self, s: Type, t: Type) -> bool:
        """Return whether two arms, not structs, are of the same JSON kind."""
        mine, theirs = strip_bounds(self.source, s), strip_bounds(self.target, t)
        if isinstance(mine, Lit) and isinstance(theirs, Lit):
            return mine == theirs
        return bool(kinds(self.source, s) & kinds(self.target, t))

    def _fits(self, s: Struct, t: Struct) -> bool:
        """Return whether `s` has every member `t` requires, and no contradicting member."""
        needed = {f.wire for f in t.fields if f.required} <= {f.wire for f in s.fields}
        both = [(f, g) for f in s.fields if (g := t.field(f.wire)) is not None]
        return needed and not any(self._clash(f, g) for f, g in both)

    def _clash(self, f: Field, g: Field) -> bool:
        a, b = strip_bounds(self.source, f.type), strip_bounds(self.target, g.type)
        mine, theirs = literals(self.source, a), literals(self.target, b)
        if mine and theirs:
            return not mine & theirs
        return not kinds(self.source, a) & kinds(self.target, b)

    def target_takes_every_object(self, t: Type) -> bool:
        """Return whether `t` takes every object."""
        return t == Prim("object") or is_any(self.target, value_of(t) if isinstance(t, Map) else t)

    def as_struct(self, s: Type, like: Struct) -> Struct:
        """The struct of type `s`; an object without declared members becomes an empty struct."""
        if isinstance(s, Ref):
            return self.source.structs[s.name]
        return Struct(like.name, (), value_of(s))

    def offset_of(self, leaf: Type, place: str) -> int:
        """The byte offset of an arm's declaration, or of the surrounding member."""
        owner, _, wire = place.partition(".")
        if isinstance(leaf, Ref):
            return self.source.types[leaf.name].at
        struct = self.source.structs.get(owner)
        member = struct.field(wire) if struct is not None else None
        return member.at if member is not None else 0


def is_object(type: Type) -> bool:
    return isinstance(type, Ref | Map) or type == Prim("object")


def value_of(type: Type) -> Type:
    return type.of if isinstance(type, Map) else Prim("unknown")


def arm_name(schema: Schema, leaf: Type) -> str:
    """The name of an arm in rows: its type name, its literal, or its JSON kind."""
    match leaf:
        case Ref(name=name) | Prim(name=name):
            return name
        case Lit(value=value):
            return str(value)
        case Bounded():
            return arm_name(schema, leaf.of)
        case _:
            return next(iter(kinds(schema, leaf)))
