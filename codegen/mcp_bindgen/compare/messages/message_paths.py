"""Finds the places of each pair of declarations in messages, and whether every message has it.

Both schemas are walked together, from the messages in both: a place counts if the same path leads
to it in the old and in the new schema, so one side reads there what the other writes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from mcp_bindgen.compare.changes.assignable import Relation, leaves, named
from mcp_bindgen.compare.changes.change import ITEM, VALUE, Owner, value_of
from mcp_bindgen.compare.changes.pairing import Pairing
from mcp_bindgen.compare.messages.directions import Route, roots
from mcp_bindgen.ir.envelopes import envelopes
from mcp_bindgen.ir.model import Arr, Bounded, Lit, Map, Prim, Ref, Schema, Tup, Type, Uni
from mcp_bindgen.ir.walk import children, is_partial, resolve_aliases, strip_bounds

__all__ = ["is_always", "item_at", "routes"]

_Reached: TypeAlias = tuple[Type, Type, Route]


def routes(pairing: Pairing, more: Iterable[Route] = ()) -> dict[Owner, list[Route]]:
    """For each pair in messages, its routes: at most one for each message, the surest.

    `more` are further roots, for messages outside the schemas.
    """
    by_owner: dict[Owner, list[Route]] = {}
    walk = _Walk(pairing)
    for root in (*roots(pairing), *more):
        for owner, route in walk.from_root(root).items():
            by_owner.setdefault(owner, []).append(route)
    return by_owner


def is_always(schema: Schema, type: Type, steps: tuple[str, ...]) -> bool:
    """Return whether each value of a type has the member to which the steps lead."""
    for step in steps:
        bare = strip_bounds(schema, type)
        member = schema.fields[bare.name].get(step) if isinstance(bare, Ref) else None
        if member is None or not member.required:
            return False
        type = member.type
    return True


def item_at(type: Tup | Arr, number: int) -> Type | None:
    """The type of item `number` in an array or tuple; None if there can be no such item."""
    if isinstance(type, Arr):
        return type.of
    return type.of[number].type if number < len(type.of) else type.rest


class _Walk:
    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.old, self.new = pairing.old, pairing.new
        self.forward = Relation(self.old, self.new, frozenset())
        self.backward = Relation(self.new, self.old, frozenset())
        self.enveloped = {struct.name for struct in envelopes(self.old).values()}
        results = ({m.name for m in side.methods if m.result} for side in (self.old, self.new))
        self.answered = set[str].intersection(*results)
        self.covering: dict[tuple[Type, Type, Type, Type], tuple[bool, bool]] = {}

    def from_root(self, root: Route) -> dict[Owner, Route]:
        """Walk from a root; parts of every message first, so the surest route is kept."""
        reached: dict[Owner, Route] = {}
        seen: set[tuple[Type, Type, tuple[bool, bool]]] = set()
        sure, maybe = deque[_Reached]([(root.old, root.new, root)]), deque[_Reached]()
        while sure or maybe:
            a, b, route = (sure or maybe).popleft()
            if isinstance(a, Ref) and isinstance(b, Ref) and self._are_pair(a, b):
                _keep(reached, (a.name, b.name), route)
            if (a, b, route.covered) in seen:
                continue
            seen.add((a, b, route.covered))
            for x, y, below in self._inside(a, b, route):
                (sure if all(below.surely) else maybe).append((x, y, below))
        return reached

    def _inside(self, a: Type, b: Type, route: Route) -> Iterator[_Reached]:
        x, y = self._open(a, b)
        if (x, y) != (a, b):
            yield x, y, route
            return
        match a, b:
            case Ref(), Ref():
                yield from self._members(a.name, b.name, route)
            case (Bounded(), _) | (_, Bounded()):
                inner = a.of if isinstance(a, Bounded) else a, b.of if isinstance(b, Bounded) else b
                yield *inner, route
            case _ if isinstance(a, Uni) or isinstance(b, Uni):
                yield from self._arms(a, b, route)
            case (Tup() | Arr(), Tup() | Arr()):
                yield from _items(a, b, route)
            case _ if type(a) is type(b):
                below = route.below(VALUE if isinstance(a, Map) else ITEM)
                yield from ((p, q, below) for p, q in zip(children(a), children(b), strict=False))
            case _:
                return

    def _open(self, a: Type, b: Type) -> tuple[Type, Type]:
        """The types without aliases; a partial type which may be an arm of the other stays."""
        x, y = named(self.old, a), named(self.new, b)
        inside = resolve_aliases(self.old, x), resolve_aliases(self.new, y)
        if isinstance(x, Uni | Bounded) or isinstance(y, Uni | Bounded):
            return x, y
        if isinstance(inside[0], Uni | Bounded) and is_partial(y) and not self.pairing.same(x, y):
            return inside[0], y
        return inside

    def _members(self, a: str, b: str, route: Route) -> Iterator[_Reached]:
        x, y = self.old.structs[a], self.new.structs[b]
        twins = self.new.fields[b]
        for field in x.fields:
            twin = twins.get(field.wire)
            if twin is not None and not self._is_typed_by_method(route, field.wire):
                yield field.type, twin.type, route.below(field.wire, field.required, twin.required)
        if x.index is not None and y.index is not None:
            yield x.index, y.index, route.below(VALUE)
        for keyed, other in x.keyed_twins(y):
            yield keyed.type, other.type, route.below(value_of(keyed.key))

    def _is_typed_by_method(self, route: Route, wire: str) -> bool:
        """Return whether the method's own declarations give the type of an envelope member."""
        if route.part != "envelope" or route.steps or not route.method:
            return False
        return wire == "params" or (wire == "result" and route.method in self.answered)

    # ---- unions

    def _arms(self, a: Type, b: Type, route: Route) -> Iterator[_Reached]:
        mine, theirs = leaves(self.old, a), leaves(self.new, b)
        named = {arm.name for arm in theirs if isinstance(arm, Ref)}
        around_all = route.part == "envelope" and not route.method
        for x in mine:
            if around_all and isinstance(x, Ref) and x.name in self.enveloped:
                continue  # walked for each method that it is around
            for y in theirs:
                if self._may_meet(x, y, named):
                    below = route.below((x, y), len(mine) == 1, len(theirs) == 1)
                    yield x, y, self._cover(below, x, y, a, b)
        yield from self._unions(a, b, route)

    def _may_meet(self, x: Type, y: Type, named: set[str]) -> bool:
        """Return whether to compare two arms: they are a pair, or no arm of the other union is the
        pair of `x`. Literals and primitive types are never compared.
        """
        if isinstance(x, Lit | Prim) or isinstance(y, Lit | Prim):
            return False
        if not (isinstance(x, Ref) and isinstance(y, Ref)):
            return True
        return self.pairing.same(x, y) or self.pairing.names.get(x.name) not in named

    def _cover(self, route: Route, x: Type, y: Type, a: Type, b: Type) -> Route:
        """Mark the route to the arms `x` of `a` and `y` of `b` as covered in each direction in
        which another arm of the reader's union accepts all values of the arm.
        """
        key = x, y, a, b
        if key not in self.covering:
            mine, theirs = leaves(self.old, a), leaves(self.new, b)
            self.covering[key] = (
                any(self.forward.holds(x, arm) for arm in theirs if arm != y),
                any(self.backward.holds(y, arm) for arm in mine if arm != x),
            )
        forward, backward = self.covering[key]
        before = route.covered
        return replace(route, covered=(before[0] or forward, before[1] or backward))

    def _unions(self, a: Type, b: Type, route: Route) -> Iterator[_Reached]:
        """Pairs of unions; flattened for the walk, but changes are reported at them."""
        mine = a.arms if isinstance(a, Uni) else (a,)
        theirs = b.arms if isinstance(b, Uni) else (b,)
        sure = route.surely[0] and len(mine) == 1, route.surely[1] and len(theirs) == 1
        for x in mine:
            for y in theirs:
                named = isinstance(x, Ref) and isinstance(y, Ref) and self._are_pair(x, y)
                if named and (_is_union(self.old, x) or _is_union(self.new, y)):
                    yield x, y, replace(route, surely=sure)

    def _are_pair(self, a: Ref, b: Ref) -> bool:
        return self.pairing.names.get(a.name) == b.name


def _is_union(schema: Schema, type: Type) -> bool:
    return not is_partial(type) and isinstance(resolve_aliases(schema, type), Uni)


def _keep(reached: dict[Owner, Route], owner: Owner, route: Route) -> None:
    """Keep the first route to an owner, covered only as far as all routes are."""
    known = reached.get(owner)
    if known is None:
        reached[owner] = route
        return
    both = known.covered[0] and route.covered[0], known.covered[1] and route.covered[1]
    if both != known.covered:
        reached[owner] = replace(route, covered=both)


def _items(a: Tup | Arr, b: Tup | Arr, route: Route) -> Iterator[_Reached]:
    """Pairs of items: by place, then the rest; a place may meet the rest of the other side."""
    if isinstance(a, Arr) and isinstance(b, Arr):
        yield a.of, b.of, route.below(ITEM)
        return
    for number in range(1 + max(len(x.of) for x in (a, b) if isinstance(x, Tup))):
        p, q = item_at(a, number), item_at(b, number)
        if p is not None and q is not None:
            yield p, q, route.below(number)
