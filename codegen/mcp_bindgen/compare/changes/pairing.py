"""Pairs the declarations of the old and the new schema by name, or by use if renamed.

A removed and an added declaration are paired if they stand at the same place of paired
declarations, or carry the same method, and are alike; or if no others have their structure; or if
both are the envelope of one role.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from mcp_bindgen.compare.changes.assignable import Pairs, leaves
from mcp_bindgen.compare.changes.bounds import normal
from mcp_bindgen.ir.envelopes import envelopes, union_of_envelopes
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Bounded,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import children, head, is_partial, map_children, strip_bounds

__all__ = ["Pairing", "is_inline", "pair", "same", "unmatched_arms"]

_JSON: Final = Prim("json")
_ALIKE: Final = 0.5
"""Share of common members from which two structs at the same place count as one, renamed."""


@dataclass
class Pairing:
    """Old name → new name of every declaration and anonymous shape in both schemas."""

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

    @cached_property
    def old_names(self) -> dict[str, str]:
        """New name → old name."""
        return {b: a for a, b in self.names.items()}

    @property
    def left(self) -> list[str]:
        """Names of the old schema without a pair."""
        return [name for name in self.old.types if name not in self.names]

    @property
    def came(self) -> list[str]:
        """Names of the new schema without a pair."""
        taken = set(self.names.values())
        return [name for name in self.new.types if name not in taken]

    def same(self, a: Type | None, b: Type | None) -> bool:
        return same(self.names, a, b)

    def same_class(self, a: Type, b: Type) -> bool:
        """Return whether values of both types have the same Python class; all dicts are alike."""
        return same(self.names, _plain(self.old, a), _plain(self.new, b))


def same(names: dict[str, str], a: Type | None, b: Type | None) -> bool:
    """Return whether two types are written alike. Paired names count as equal, in any order of
    arms.
    """
    match a, b:
        case (None, _) | (_, None):
            return a is b
        case Ref(), Ref():
            return names.get(a.name) == b.name
        case Bounded(), Bounded():
            return normal(a.limits) == normal(b.limits) and same(names, a.of, b.of)
        case Uni(), Uni():
            return not any(unmatched_arms(names, a.arms, b.arms))
        case _:
            return head(a) == head(b) and all(
                same(names, x, y) for x, y in zip(children(a), children(b), strict=True)
            )


def unmatched_arms(
    names: dict[str, str], mine: Sequence[Type], theirs: Sequence[Type]
) -> tuple[list[Type], list[Type]]:
    """The arms of `mine` not written alike in `theirs`, and those of `theirs` not in `mine`."""
    simple = frozenset(filter(_is_simple, mine)), frozenset(filter(_is_simple, theirs))
    rest = [x for x in mine if not _is_simple(x)], [y for y in theirs if not _is_simple(y)]
    gone = [x for x in rest[0] if not any(same(names, x, y) for y in rest[1])]
    came = [y for y in rest[1] if not any(same(names, x, y) for x in rest[0])]
    lost, new = simple[0] - simple[1], simple[1] - simple[0]
    kept = set(gone), set(came)
    return (
        [x for x in mine if x in lost or x in kept[0]],
        [y for y in theirs if y in new or y in kept[1]],
    )


def _is_simple(type: Type) -> bool:
    """Return whether a type is written like another only if they are equal."""
    return isinstance(type, Lit | Prim)


def _plain(schema: Schema, type: Type, around: frozenset[Type] = frozenset()) -> Type:
    """`type` as its annotation sees it: aliases opened, bounds and the kinds of JSON set aside.

    An alias inside of itself, which is `around` it, stays.
    """
    if type in around:
        return type
    around |= {type} if isinstance(type, Ref) else frozenset()
    match bare := strip_bounds(schema, type):
        case Uni():
            arms = (_plain(schema, arm, around) for arm in leaves(schema, bare))
            return Uni(tuple(dict.fromkeys(arms)))
        case Prim(name="object"):
            return Map(_JSON)
        case Prim(name=name) if name in JSON_PRIMS:
            return _JSON
        case _:
            return map_children(bare, lambda child: _plain(schema, child, around))


def pair(old: Schema, new: Schema) -> Pairing:
    """Match the declarations of two schemas: first those of the same name, then, as long as it
    finds more, those used in the same place of matched ones, last those of the same structure.
    """
    names = {name: name for name in old.types if name in new.types}
    pairing = Pairing(old, new, names)
    while _by_use(pairing) or _by_structure(pairing) or _by_role(pairing):
        pass
    return Pairing(old, new, names)


def _by_role(pairing: Pairing) -> bool:
    """Pair the envelopes of one role, and the unions of all; return whether any pair was added."""
    old, new = _by_roles(pairing.old), _by_roles(pairing.new)
    left, came = set(pairing.left), set(pairing.came)
    added = {a: new[role] for role, a in old.items() if a in left and new.get(role) in came}
    pairing.names.update(added)
    return bool(added)


def _by_roles(schema: Schema) -> dict[str, str]:
    names = {role: struct.name for role, struct in envelopes(schema).items()}
    union = union_of_envelopes(schema)
    return {**names, "any": union} if union else names


def is_inline(declaration: Struct | Alias) -> bool:
    """Return whether a shape is anonymous, written where it is used."""
    return isinstance(declaration, Struct) and bool(declaration.place)


def _by_use(pairing: Pairing) -> bool:
    """Pair types at the same places, the most alike first; return whether any pair was added."""
    left, came, before = set(pairing.left), set(pairing.came), len(pairing.names)
    places = {(a, b) for a, b in _places(pairing) if a in left and b in came}
    scored = [(_likeness(pairing, a, b), a, b) for a, b in places]
    for score, a, b in sorted(scored, key=lambda row: (-row[0], row[1:])):
        if score >= _ALIKE and a in left and b in came:
            pairing.names[a] = b
            left.discard(a)
            came.discard(b)
    return len(pairing.names) > before


def _places(pairing: Pairing) -> Iterator[tuple[str, str]]:
    """Names at the same place: the same method, or the same member of a pair."""
    methods = {m.name: m for m in pairing.new.methods}
    for method in pairing.old.methods:
        twin = methods.get(method.name)
        if twin is not None:
            yield method.type, twin.type
            if method.result and twin.result:
                yield from _twins(pairing, method.result, twin.result)
    for a, b in list(pairing.names.items()):
        x, y = pairing.old.types[a], pairing.new.types[b]
        if isinstance(x, Struct) and isinstance(y, Struct):
            others = pairing.new.fields[b]
            for mine in x.fields:
                theirs = others.get(mine.wire)
                if theirs is not None:
                    yield from _twins(pairing, mine.type, theirs.type)
            if x.index is not None and y.index is not None:
                yield from _twins(pairing, x.index, y.index)
            for keyed, other in x.keyed_twins(y):
                yield from _twins(pairing, keyed.type, other.type)
        elif isinstance(x, Alias) and isinstance(y, Alias):
            yield from _twins(pairing, x.type, y.type)


def _twins(
    pairing: Pairing, a: Type, b: Type, around: frozenset[tuple[Type, Type]] = frozenset()
) -> Iterator[tuple[str, str]]:
    """Names at the same places inside two types; recursive types are walked once."""
    if (a, b) in around:
        return
    around |= {(a, b)}
    match a, b:
        case Ref(), Ref():
            yield a.name, b.name
        case _ if isinstance(a, Uni) or isinstance(b, Uni):
            before, after = leaves(pairing.old, a), leaves(pairing.new, b)
            mine, theirs = unmatched_arms(pairing.names, before, after)
            near = _Near(pairing, theirs)
            for x in mine:
                for y in near.to(x):
                    yield from _twins(pairing, x, y, around)
        case _ if type(a) is type(b):
            for x, y in zip(children(a), children(b), strict=False):
                yield from _twins(pairing, x, y, around)
        case _:
            return


class _Near:
    """Index of a union's arms by member, for finding the structs which may resemble an arm: long
    unions have too many arms to compare each with each. Arms without members are always candidates.
    """

    def __init__(self, pairing: Pairing, arms: Sequence[Type]) -> None:
        self.pairing, self.arms = pairing, arms
        self.others: set[int] = set()
        self.by_member: dict[str, list[int]] = {}
        for number, arm in enumerate(arms):
            wires = _own_of(pairing.new, arm)
            for wire in wires:
                self.by_member.setdefault(wire, []).append(number)
            if not wires:
                self.others.add(number)

    def to(self, arm: Type) -> Iterator[Type]:
        wires = _own_of(self.pairing.old, arm)
        numbers = {n for wire in wires for n in self.by_member.get(wire, ())} | self.others
        return (self.arms[n] for n in (sorted(numbers) if wires else range(len(self.arms))))


def _own_of(schema: Schema, type: Type) -> set[str]:
    struct = schema.structs.get(type.name) if isinstance(type, Ref) else None
    return set() if struct is None else _own(struct)


def _likeness(pairing: Pairing, a: str, b: str) -> float:
    """From 0 to 1: 1 for equal aliases, for structs the share of common members of their own."""
    x, y = pairing.old.types[a], pairing.new.types[b]
    if isinstance(x, Alias) and isinstance(y, Alias):
        return float(pairing.same(x.type, y.type))
    if not isinstance(x, Struct) or not isinstance(y, Struct) or _clash(x, y):
        return 0.0
    wires, others = _own(x), _own(y)
    if not wires and not others:
        return float(_anonymous(pairing.old, a) and _anonymous(pairing.new, b))
    return len(wires & others) / len(wires | others)


def _own(struct: Struct) -> set[str]:
    """The members not inherited from a base; inherited ones prove no likeness."""
    anonymous = bool(struct.place)
    return {f.wire for f in struct.fields if anonymous or f.origin == struct.name or not f.origin}


def _clash(x: Struct, y: Struct) -> bool:
    """Return whether a member of both is a different constant in each."""
    constants = {f.wire: f.const for f in y.consts}
    return any(f.wire in constants and constants[f.wire] != f.const for f in x.consts)


def _by_structure(pairing: Pairing) -> bool:
    """Pair a removed declaration with the only added one of equal structure."""
    left = [name for name in pairing.left if _has_structure(pairing.old, name)]
    came = [name for name in pairing.came if _has_structure(pairing.new, name)]
    for a in left:
        twins = [b for b in came if _equal(pairing, a, b)]
        if len(twins) == 1 and sum(_equal(pairing, x, twins[0]) for x in left) == 1:
            pairing.names[a] = twins[0]
            return True
    return False


def _has_structure(schema: Schema, name: str) -> bool:
    """Return whether equal structure identifies a declaration; not if it was read only in part."""
    return not _anonymous(schema, name) and not is_partial(Ref(name))


def _anonymous(schema: Schema, name: str) -> bool:
    return is_inline(schema.types[name])


def _equal(pairing: Pairing, a: str, b: str) -> bool:
    x, y = pairing.old.types[a], pairing.new.types[b]
    names = pairing.names | {a: b}
    if isinstance(x, Alias) and isinstance(y, Alias):
        return not isinstance(x.type, Prim) and same(names, x.type, y.type)
    if not isinstance(x, Struct) or not isinstance(y, Struct) or not x.fields:
        return False
    others = pairing.new.fields[b]
    return len(x.fields) == len(y.fields) and all(
        (twin := others.get(f.wire)) is not None
        and f.required == twin.required
        and same(names, f.type, twin.type)
        for f in x.fields
    )
