"""Compares two types at one place, and reports each difference as deep inside as possible."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mcp_bindgen.compare.changes.assignable import Relation, apart, leaves, named
from mcp_bindgen.compare.changes.bounds import concerning, limits_of, normal, tighter
from mcp_bindgen.compare.changes.change import ITEM, VALUE, Change, Key, Place, Spot, value_of
from mcp_bindgen.compare.changes.pairing import Pairing, unmatched_arms
from mcp_bindgen.compare.changes.unmatched_members import OneSided, default_note
from mcp_bindgen.ir.export.typescript import shape_text
from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Field,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import is_any, is_partial, kinds, resolve_aliases

__all__ = ["TypeComparison"]

_NULL: Final = Prim("null")
_FREE_FORM: Final = Struct("", (), None)
_RELATIONS: Final = {
    (True, True): "same",
    (True, False): "widened",
    (False, True): "narrowed",
    (False, False): "unrelated",
}
"""Name of the relation: does new accept all of old; does old accept all of new?"""


class TypeComparison:
    """Compares types of the old schema with types of the new one."""

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.old, self.new = pairing.old, pairing.new
        self.forward = Relation(self.old, self.new, pairing.forward)
        self.backward = Relation(self.new, self.old, pairing.backward)
        self.removed = OneSided(self.forward, "removed")
        self.added = OneSided(self.backward, "added")
        self._shaping: set[tuple[str, str]] = set()

    def changes(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """The differences; at least one if the types are written differently."""
        if self.pairing.same(a, b):
            return
        x, y = named(self.old, a), named(self.new, b)
        if is_partial(x) or is_partial(y):
            yield from self._partly(at, x, y)
            return
        inside = list(self._inside(at, x, y))
        yield from inside or [self._type_change(at, a, b, "same")]

    def _partly(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """The differences outside a partial type; its unread part is compared as text.

        A partial type which is an arm on the other side stays partial, since other arms may add to
        it.
        """
        if self.pairing.same(a, b):
            return
        if self._is_arm(a, b):
            yield from self._arms(at, a, b)
        else:
            yield from self._inside(at, resolve_aliases(self.old, a), resolve_aliases(self.new, b))

    def _is_arm(self, a: Type, b: Type) -> bool:
        """Return whether one of the types is a union and the other is one of its arms."""
        if isinstance(a, Uni):
            return any(self.pairing.same(arm, b) for arm in leaves(self.old, a))
        if isinstance(b, Uni):
            return any(self.pairing.same(a, arm) for arm in leaves(self.new, b))
        return False

    def change(self, at: Place, key: Key, a: Type | None, b: Type | None) -> Change:
        return at.change(key, Spot(shape_text(self.old, a), a), Spot(shape_text(self.new, b), b))

    def _inside(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        if self.pairing.same(a, b):
            return
        if isinstance(a, Bounded) or isinstance(b, Bounded):
            yield from self._bounds(at, a, b)
            return
        match a, b:
            case Arr(), Arr():
                yield from self.changes(at.below(ITEM), a.of, b.of)
            case Map(), Map():
                yield from self.changes(at.below(VALUE), a.of, b.of)
            case _ if isinstance(a, Uni) or isinstance(b, Uni):
                yield from self._arms(at, a, b)
            case _:
                yield from self._shapes(at, a, b)

    # ---- shapes that are not a pair

    def _shapes(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """Compare two shapes member by member, unless each requires members of its own."""
        x, y = _shape(self.old, a), _shape(self.new, b)
        names = (x.name, y.name) if x and y else None
        if x is None or y is None or names in self._shaping or not _requires_other(x, y):
            yield self._relation(at, a, b)
            return
        self._shaping.add((x.name, y.name))
        yield self.change(at, ("type", "changed", "class"), a, b)
        yield from self._members(at, x, y)
        self._shaping.discard((x.name, y.name))

    def _members(self, at: Place, x: Struct, y: Struct) -> Iterator[Change]:
        mine, theirs = {f.wire: f for f in x.fields}, {f.wire: f for f in y.fields}
        for wire, member in mine.items():
            if wire in theirs:
                yield from self.member(at.below(wire), member, theirs[wire])
            else:
                yield self.removed.change(at, member, y)
        for wire, member in theirs.items():
            if wire not in mine:
                yield self.added.change(at, member, x)
        if x.index is not None and y.index is not None:
            yield from self.changes(at.below(VALUE), x.index, y.index)
        for keyed, other in x.keyed_twins(y):
            yield from self.changes(at.below(value_of(keyed.key)), keyed.type, other.type)

    def member(self, at: Place, a: Field, b: Field) -> Iterator[Change]:
        """The changes of a member: required or optional, and its type."""
        at = replace(at, old_at=a.at, new_at=b.at)
        if a.required != b.required:
            how = "required" if b.required else "optional"
            change = self.change(at, ("member", "became", how), a.type, b.type)
            marked = replace(change, old=_with_mark(change.old, a), new=_with_mark(change.new, b))
            yield replace(marked, note=default_note(b))
        yield from self.changes(at, a.type, b.type)

    # ---- types of which only one takes all of the other

    def _relation(self, at: Place, a: Type, b: Type) -> Change:
        how = _RELATIONS[self.forward.holds(a, b), self.backward.holds(b, a)]
        if how == "unrelated" and apart(self.old, a, self.new, b):
            how = "disjoint"
        if how == "widened" and is_any(self.new, b):
            how = "unknown"
        return self._type_change(at, a, b, how)

    def _type_change(self, at: Place, a: Type, b: Type, how: str) -> Change:
        if how == "same" and not self.pairing.same_class(a, b):
            how = "class"
        return self.change(at, ("type", "changed", how), a, b)

    def _arms(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        mine, theirs = leaves(self.old, a), leaves(self.new, b)
        gone, came = unmatched_arms(self.pairing.names, mine, theirs)
        if len(gone) == len(mine) and len(came) == len(theirs):
            yield self._relation(at, a, b)
            return
        for leaf in gone:
            key = _arm_key(leaf, "removed", self.forward.holds(leaf, b))
            yield self.change(at, key, leaf, b)
        for leaf in came:
            key = _arm_key(leaf, "added", self.backward.holds(leaf, a))
            yield self.change(at, key, a, leaf)

    def _bounds(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """Bounds which differ, for the kinds of value both types accept."""
        inner = a.of if isinstance(a, Bounded) else a, b.of if isinstance(b, Bounded) else b
        shared = kinds(self.old, a) & kinds(self.new, b)
        if not shared:
            yield self._relation(at, a, b)
            return
        x, y = (normal(concerning(limits_of(type), shared)) for type in (a, b))
        if x.integer != y.integer:
            yield self.change(at, ("integer", "added" if y.integer else "removed", ""), a, b)
        x, y = replace(x, integer=False), replace(y, integer=False)
        if x != y:
            how = _RELATIONS[tighter(x, y), tighter(y, x)]
            yield self.change(at, ("bounds", "changed", how), a, b)
        if not self.pairing.same(*inner):
            yield from self._inside(at, *inner)


def _shape(schema: Schema, type: Type) -> Struct | None:
    """The members of an object type; a free-form object has none."""
    match type:
        case Ref():
            return schema.structs.get(type.name)
        case Prim(name="object") | Map(of=Prim(name="unknown" | "any" | "json")):
            return _FREE_FORM
        case _:
            return None


def _requires_other(x: Struct, y: Struct) -> bool:
    """Return whether each of two shapes requires a member the other does not."""
    mine, theirs = ({f.wire for f in struct.fields if f.required} for struct in (x, y))
    return mine != theirs


def _with_mark(spot: Spot, member: Field) -> Spot:
    return replace(spot, text=f"{'' if member.required else '?'}: {spot.text}")


def _arm_key(leaf: Type, what: str, covered: bool) -> Key:
    subject = "literal" if isinstance(leaf, Lit) else "null" if leaf == _NULL else "arm"
    if subject == "null" and covered:
        subject = "arm"
    return (subject, what, "covered" if covered else "")
