"""How two types at one place differ, reported as deep inside them as it can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mcp_bindgen.compare.accepts_all import Relation, apart, leaves, tighter
from mcp_bindgen.compare.change import ITEM, VALUE, Change, Key, Place, Spot
from mcp_bindgen.compare.pairing import Pairing
from mcp_bindgen.compare.typescript import spelled
from mcp_bindgen.ir.model import Arr, Bounded, Limits, Lit, Map, Prim, Type, Uni
from mcp_bindgen.ir.walk import unaliased

__all__ = ["TypeComparison"]

_NULL: Final = Prim("null")
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

    def changes(self, at: Place, a: Type, b: Type) -> Iterator[Change]:
        """The differences; at least one where the types are not written alike."""
        if self.pairing.same(a, b):
            return
        inside = list(self._opened(at, unaliased(self.old, a), unaliased(self.new, b)))
        yield from inside or [self._typed(at, a, b, "same")]

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
            case _:
                yield self._related(at, a, b)

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
        gone = [x for x in mine if not any(self.pairing.same(x, y) for y in theirs)]
        came = [y for y in theirs if not any(self.pairing.same(x, y) for x in mine)]
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
        x, y = _limits(a), _limits(b)
        if x.integer != y.integer:
            yield self.change(at, ("integer", "added" if y.integer else "removed", ""), a, b)
        x, y = replace(x, integer=False), replace(y, integer=False)
        if x != y:
            how = _RELATIONS[tighter(x, y), tighter(y, x)]
            yield self.change(at, ("bounds", "changed", how), a, b)
        inner = a.of if isinstance(a, Bounded) else a, b.of if isinstance(b, Bounded) else b
        if not self.pairing.same(*inner):
            yield from self._opened(at, *inner)


def _limits(type: Type) -> Limits:
    return type.limits if isinstance(type, Bounded) else Limits()


def _arm_key(leaf: Type, what: str, covered: bool) -> Key:
    subject = "literal" if isinstance(leaf, Lit) else "null" if leaf == _NULL else "arm"
    if subject == "null" and covered:
        subject = "arm"
    return (subject, what, "covered" if covered else "")
