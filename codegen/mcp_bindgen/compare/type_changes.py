"""How two types at one place differ, reported as deep inside them as it can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mcp_bindgen.compare.accepts_all import Relation, apart, is_partial, leaves, named
from mcp_bindgen.compare.bounds import concerning, limits_of, normal, tighter
from mcp_bindgen.compare.change import ITEM, VALUE, Change, Key, Place, Spot
from mcp_bindgen.compare.one_sided import OneSided
from mcp_bindgen.compare.pairing import Pairing, unmatched
from mcp_bindgen.compare.typescript import spelled
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Arr,
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
from mcp_bindgen.ir.walk import kinds, unaliased

__all__ = ["TypeComparison"]

_NULL: Final = Prim("null")
_ANYTHING: Final = Prim("unknown")
_FREE_FORM: Final = Struct("", (), None)
_RELATIONS: Final = {
    (True, True): "same",
    (True, False): "widened",
    (False, True): "narrowed",
    (False, False): "unrelated",
}
"""By whether the new type takes all of the old, and the old all of the new."""


class TypeComparison:
    """Types of the old schema against types of the new one."""

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.old, self.new = pairing.old, pairing.new
        self.forward = Relation(self.old, self.new, pairing.forward)
        self.backward = Relation(self.new, self.old, pairing.backward)
        self.removed = OneSided(self.forward, "removed")
        self.added = OneSided(self.backward, "added")

    def changes(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """The differences; at least one where the types are not written alike."""
        if self.pairing.same(a, b):
            return
        x, y = named(self.old, a), named(self.new, b)
        if is_partial(x) or is_partial(y):
            yield from self._partly(at, x, y)
            return
        inside = list(self._opened(at, x, y))
        yield from inside or [self._typed(at, a, b, "same")]

    def _partly(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """What differs but for what a partial type leaves out, which is compared as text.

        A partial type that is an arm on the other side stays one: other arms may be more.
        """
        if self.pairing.same(a, b):
            return
        if self._is_arm(a, b):
            yield from self._arms(at, a, b)
        else:
            yield from self._opened(at, unaliased(self.old, a), unaliased(self.new, b))

    def _is_arm(self, a: Type, b: Type) -> bool:
        """Whether one of the two types is an arm of the other, which is a union."""
        if isinstance(a, Uni):
            return any(self.pairing.same(arm, b) for arm in leaves(self.old, a))
        if isinstance(b, Uni):
            return any(self.pairing.same(a, arm) for arm in leaves(self.new, b))
        return False

    def change(self, at: Place, key: Key, a: Type | None, b: Type | None) -> Change:
        return at.change(key, Spot(spelled(self.old, a), a), Spot(spelled(self.new, b), b))

    def _opened(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
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
            case Ref(), _ if _is_free_form(b) and self._requires(self.old, a):
                yield self._typed(at, a, b, "same")
                yield from self._shaped(at, self.old.structs[a.name], self.removed)
            case _, Ref() if _is_free_form(a) and self._requires(self.new, b):
                yield self._typed(at, a, b, "same")
                yield from self._shaped(at, self.new.structs[b.name], self.added)
            case _:
                yield self._related(at, a, b)

    def _requires(self, schema: Schema, type: Ref) -> bool:
        return any(field.required for field in schema.structs[type.name].fields)

    def _shaped(self, at: Place, struct: Struct, sided: OneSided) -> Iterator[Change]:
        """The members of a shape that the other side leaves to a free-form object."""
        for field in struct.fields:
            yield sided.change(at, field, _FREE_FORM)
        if struct.index is not None:
            types = (
                (struct.index, _ANYTHING) if sided is self.removed else (_ANYTHING, struct.index)
            )
            yield from self._opened(at.below(VALUE), *types)

    def _related(self, at: Place, a: Type, b: Type) -> Change:
        how = _RELATIONS[self.forward.holds(a, b), self.backward.holds(b, a)]
        if how == "unrelated" and apart(self.old, a, self.new, b):
            how = "disjoint"
        return self._typed(at, a, b, how)

    def _typed(self, at: Place, a: Type, b: Type, how: str) -> Change:
        if how == "same" and not self.pairing.same_class(a, b):
            how = "class"
        return self.change(at, ("type", "changed", how), a, b)

    def _arms(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        mine, theirs = leaves(self.old, a), leaves(self.new, b)
        gone, came = unmatched(self.pairing.names, mine, theirs)
        if len(gone) == len(mine) and len(came) == len(theirs):
            yield self._related(at, a, b)
            return
        for leaf in gone:
            key = _arm_key(leaf, "removed", self.forward.holds(leaf, b))
            yield self.change(at, key, leaf, b)
        for leaf in came:
            key = _arm_key(leaf, "added", self.backward.holds(leaf, a))
            yield self.change(at, key, a, leaf)

    def _bounds(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """Bounds that differ, for the kinds of value that both types take."""
        inner = a.of if isinstance(a, Bounded) else a, b.of if isinstance(b, Bounded) else b
        shared = kinds(self.old, a) & kinds(self.new, b)
        if not shared:
            yield self._related(at, a, b)
            return
        x, y = (normal(concerning(limits_of(type), shared)) for type in (a, b))
        if x.integer != y.integer:
            yield self.change(at, ("integer", "added" if y.integer else "removed", ""), a, b)
        x, y = replace(x, integer=False), replace(y, integer=False)
        if x != y:
            how = _RELATIONS[tighter(x, y), tighter(y, x)]
            yield self.change(at, ("bounds", "changed", how), a, b)
        if not self.pairing.same(*inner):
            yield from self._opened(at, *inner)


def _is_free_form(type: Type) -> bool:
    """Whether a type takes every object, and declares no member."""
    match type:
        case Prim(name="object"):
            return True
        case Map(of=Prim(name=name)):
            return name in JSON_PRIMS
        case _:
            return False


def _arm_key(leaf: Type, what: str, covered: bool) -> Key:
    subject = "literal" if isinstance(leaf, Lit) else "null" if leaf == _NULL else "arm"
    if subject == "null" and covered:
        subject = "arm"
    return (subject, what, "covered" if covered else "")
