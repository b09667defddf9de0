"""Which declaration of the old schema is which of the new: by name, and renamed ones by their use.

A declaration that left and one that came are the same if they stand at the same place of two paired
declarations, or carry the same method, and are alike; or if they alone are of equal structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from mcp_bindgen.compare.accepts_all import Pairs, leaves
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)

__all__ = ["Pairing", "pair", "same"]

_JSON: Final = Prim("json")
_ALIKE: Final = 0.5
"""The share of common members from which two structs at the same place are one, renamed."""


@dataclass
class Pairing:
    """Old name → new name of every declaration and anonymous shape that both schemas have."""

    old: Schema
    new: Schema
    names: dict[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def forward(self) -> Pairs:
        """(old, new), for an old writer and a new reader."""
        return frozenset(self.names.items())

    @cached_property
    def backward(self) -> Pairs:
        return frozenset((b, a) for a, b in self.names.items())

    @property
    def left(self) -> list[str]:
        """Names of the old schema without a pair."""
        return [name for name in self.old.types if name not in self.names]

    @property
    def came(self) -> list[str]:
        taken = set(self.names.values())
        return [name for name in self.new.types if name not in taken]

    def same(self, a: Type | None, b: Type | None) -> bool:
        return same(self.names, a, b)

    def same_class(self, a: Type, b: Type) -> bool:
        """Whether the values of both are of the same Python class: any dict is as any other."""
        return same(self.names, _plain(self.old, a), _plain(self.new, b))


def same(names: dict[str, str], a: Type | None, b: Type | None) -> bool:
    """Whether two types are written alike, paired names and the order of arms set aside."""
    match a, b:
        case Ref(), Ref():
            return names.get(a.name) == b.name
        case Arr(), Arr():
            return same(names, a.of, b.of)
        case Map(), Map():
            return same(names, a.of, b.of)
        case Bounded(), Bounded():
            return a.limits == b.limits and same(names, a.of, b.of)
        case Uni(), Uni():
            return len(a.arms) == len(b.arms) and all(
                any(same(names, x, y) for y in b.arms) for x in a.arms
            )
        case Tup(), Tup():
            return (
                [e.optional for e in a.of] == [e.optional for e in b.of]
                and all(same(names, x.type, y.type) for x, y in zip(a.of, b.of, strict=True))
                and same(names, a.rest, b.rest)
            )
        case _:
            return a == b


def _plain(schema: Schema, type: Type) -> Type:
    """`type` as its annotation sees it: aliases opened, bounds and the kinds of JSON set aside."""
    match schema.open(type):
        case Uni() as found:
            return Uni(tuple(dict.fromkeys(_plain(schema, arm) for arm in leaves(schema, found))))
        case Arr() as found:
            return Arr(_plain(schema, found.of))
        case Map() as found:
            return Map(_plain(schema, found.of))
        case Prim(name="object"):
            return Map(_JSON)
        case Prim() as found:
            return _JSON if found.name in JSON_PRIMS else found
        case found:
            return found


def pair(old: Schema, new: Schema) -> Pairing:
    """Pairs by name, then by use until nothing is added, then by structure alone."""
    names = {name: name for name in old.types if name in new.types}
    found = Pairing(old, new, names)
    while _by_use(found) or _by_structure(found):
        pass
    return Pairing(old, new, names)


def _by_use(found: Pairing) -> bool:
    """Pairs what stands at the same places, the most alike first; whether anything was found."""
    left, came, before = set(found.left), set(found.came), len(found.names)
    places = {(a, b) for a, b in _places(found) if a in left and b in came}
    scored = [(_likeness(found, a, b), a, b) for a, b in places]
    for score, a, b in sorted(scored, key=lambda row: (-row[0], row[1:])):
        if score >= _ALIKE and a in left and b in came:
            found.names[a] = b
            left.discard(a)
            came.discard(b)
    return len(found.names) > before


def _places(found: Pairing) -> Iterator[tuple[str, str]]:
    """Names that stand at the same place: the same method, or the same member of a pair."""
    methods = {m.name: m for m in found.new.methods}
    for method in found.old.methods:
        twin = methods.get(method.name)
        if twin is not None:
            yield method.type, twin.type
            if method.result and twin.result:
                yield from _twins(found, method.result, twin.result)
    for a, b in list(found.names.items()):
        x, y = found.old.types[a], found.new.types[b]
        if isinstance(x, Struct) and isinstance(y, Struct):
            for mine in x.fields:
                theirs = y.field(mine.wire)
                if theirs is not None:
                    yield from _twins(found, mine.type, theirs.type)
        elif isinstance(x, Alias) and isinstance(y, Alias):
            yield from _twins(found, x.type, y.type)


def _twins(found: Pairing, a: Type, b: Type) -> Iterator[tuple[str, str]]:
    match a, b:
        case Ref(), Ref():
            yield a.name, b.name
        case Arr() | Map() | Bounded(), Arr() | Map() | Bounded() if type(a) is type(b):
            yield from _twins(found, a.of, b.of)
        case _ if isinstance(a, Uni) or isinstance(b, Uni):
            before, after = leaves(found.old, a), leaves(found.new, b)
            mine = [x for x in before if not any(found.same(x, y) for y in after)]
            theirs = [y for y in after if not any(found.same(x, y) for x in before)]
            for x in mine:
                for y in theirs:
                    yield from _twins(found, x, y)
        case _:
            return


def _likeness(found: Pairing, a: str, b: str) -> float:
    """From 0 to 1: 1 for equal aliases, for structs the share of common members of their own."""
    x, y = found.old.types[a], found.new.types[b]
    if isinstance(x, Alias) and isinstance(y, Alias):
        return float(found.same(x.type, y.type))
    if not isinstance(x, Struct) or not isinstance(y, Struct) or _clash(x, y):
        return 0.0
    wires, others = _own(x), _own(y)
    if not wires and not others:
        return float(_anonymous(found.old, a) and _anonymous(found.new, b))
    return len(wires & others) / len(wires | others)


def _own(struct: Struct) -> set[str]:
    """The members that no base of a declaration has: what is inherited is no likeness."""
    anonymous = bool(struct.place)
    return {f.wire for f in struct.fields if anonymous or f.origin == struct.name or not f.origin}


def _clash(x: Struct, y: Struct) -> bool:
    """Whether a member that both have is a different constant in each."""
    constants = {f.wire: f.const for f in y.consts}
    return any(f.wire in constants and constants[f.wire] != f.const for f in x.consts)


def _by_structure(found: Pairing) -> bool:
    """Pairs one declaration that alone equals one that came."""
    left = [n for n in found.left if not _anonymous(found.old, n)]
    came = [n for n in found.came if not _anonymous(found.new, n)]
    for a in left:
        twins = [b for b in came if _equal(found, a, b)]
        if len(twins) == 1 and sum(_equal(found, x, twins[0]) for x in left) == 1:
            found.names[a] = twins[0]
            return True
    return False


def _anonymous(schema: Schema, name: str) -> bool:
    found = schema.types[name]
    return isinstance(found, Struct) and bool(found.place)


def _equal(found: Pairing, a: str, b: str) -> bool:
    x, y = found.old.types[a], found.new.types[b]
    names = found.names | {a: b}
    if isinstance(x, Alias) and isinstance(y, Alias):
        return not isinstance(x.type, Prim) and same(names, x.type, y.type)
    if not isinstance(x, Struct) or not isinstance(y, Struct) or not x.fields:
        return False
    return len(x.fields) == len(y.fields) and all(
        (twin := y.field(f.wire)) is not None
        and f.required == twin.required
        and same(names, f.type, twin.type)
        for f in x.fields
    )
