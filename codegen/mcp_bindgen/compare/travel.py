"""Which way a pair of types travels, inside which messages, and where in them.

Both schemas are walked at once, from the messages that both have: a place counts if it is reached
in the old and in the new schema by the same way, so that what one side writes the other reads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mcp_bindgen.compare.accepts_all import leaves
from mcp_bindgen.compare.change import ITEM, VALUE, Owner
from mcp_bindgen.compare.pairing import Pairing
from mcp_bindgen.ir.model import (
    Bounded,
    Lit,
    Map,
    Method,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import children, unaliased

__all__ = [
    "TO_CLIENT",
    "TO_SERVER",
    "Route",
    "Step",
    "Way",
    "of_method",
    "result_route",
    "routes",
    "twins",
]

Way: TypeAlias = Literal["client-to-server", "server-to-client"]
Side: TypeAlias = Literal["old", "new", "both"]
Step: TypeAlias = str | tuple[Type, Type]
"""A wire name, ITEM, VALUE, or the arm of a union in the old and the new schema."""

TO_SERVER: Final[Way] = "client-to-server"
TO_CLIENT: Final[Way] = "server-to-client"
_BACK: Final[dict[Way, Way]] = {TO_SERVER: TO_CLIENT, TO_CLIENT: TO_SERVER}
_CARRIED: Final[dict[str, frozenset[tuple[Way, str]]]] = {
    "client-to-server": frozenset({(TO_SERVER, "message")}),
    "server-to-client": frozenset({(TO_CLIENT, "message")}),
    "both": frozenset({(TO_SERVER, "message"), (TO_CLIENT, "message")}),
    "input-request": frozenset({(TO_CLIENT, "input request")}),
    "none": frozenset(),
}
"""How a method's messages travel, by its direction: the way, and as what."""
_ENVELOPE: Final = "JSONRPCMessage"
_ANYTHING: Final = Prim("unknown")


@dataclass(frozen=True, slots=True)
class Route:
    """How a pair of types is reached: the message's two types, the ways, the steps inside.

    `part` is message, input request, result, error or envelope. `surely` says, for the old and the
    new schema, that every such message contains it. `side` is the schema that has the message
    travel those ways: old, new or both.
    """

    method: str
    part: str
    ways: frozenset[Way]
    old: Type
    new: Type
    steps: tuple[Step, ...] = ()
    surely: tuple[bool, bool] = (True, True)
    kind: str = ""
    side: Side = "both"

    def below(self, step: Step, old: bool = False, new: bool = False) -> Route:
        """One step farther in; `old` and `new` say whether it can always be made."""
        sure = self.surely
        return replace(self, steps=(*self.steps, step), surely=(sure[0] and old, sure[1] and new))


def of_method(old: Method | None, new: Method | None) -> Iterator[Route]:
    """The routes of a method's own message: by the old schema alone, the new alone, and both."""
    before, after = _carried(old), _carried(new)
    method = old or new
    assert method is not None
    a, b = Ref((old or method).type), Ref((new or method).type)
    sides: tuple[tuple[Side, frozenset[tuple[Way, str]]], ...] = (
        ("old", before - after),
        ("new", after - before),
        ("both", before & after),
    )
    for side, carried in sides:
        if carried:
            ways: frozenset[Way] = frozenset(way for way, _ in carried)
            part = next(iter(carried))[1]
            yield Route(method.name, part, ways, a, b, kind=method.kind, side=side)


def _carried(method: Method | None) -> frozenset[tuple[Way, str]]:
    return _CARRIED[method.direction] if method else frozenset()


def routes(pairing: Pairing) -> dict[Owner, list[Route]]:
    """For each pair that travels, its routes: at most one a message, the surest."""
    by_owner: dict[Owner, list[Route]] = {}
    for root in _roots(pairing):
        for owner, route in _walk(pairing, root).items():
            by_owner.setdefault(owner, []).append(route)
    return by_owner


def _roots(pairing: Pairing) -> Iterator[Route]:
    for a, b in twins(pairing):
        for route in of_method(a, b):
            if route.side == "both":
                yield route
                yield from result_route(a, b, route.ways)
    if _ENVELOPE in pairing.names:
        yield from _envelope(pairing)


def twins(pairing: Pairing) -> Iterator[tuple[Method, Method]]:
    """The methods that both schemas have."""
    after = {m.name: m for m in pairing.new.methods}
    return ((m, after[m.name]) for m in pairing.old.methods if m.name in after)


def result_route(a: Method, b: Method, ways: frozenset[Way]) -> Iterator[Route]:
    """What answers it; a result that is not declared may be anything."""
    if a.result or b.result:
        back: frozenset[Way] = frozenset(_BACK[way] for way in ways)
        yield Route(a.name, "result", back, a.result or _ANYTHING, b.result or _ANYTHING)


def _envelope(pairing: Pairing) -> Iterator[Route]:
    """The shapes around all messages, and of errors, each by the ways that it travels."""
    old, new = pairing.old, pairing.new
    every = Route("", "envelope", frozenset(_BACK), Ref(_ENVELOPE), Ref(pairing.names[_ENVELOPE]))
    yield every
    for name, twin in pairing.names.items():
        x, y = old.types[name], new.types[twin]
        if isinstance(x, Struct) and isinstance(y, Struct) and _is_error(x) and _is_error(y):
            ways = _answer_ways(old) & _answer_ways(new)
            yield Route("", "error", ways, Ref(name), Ref(twin))


def _is_error(struct: Struct) -> bool:
    error = struct.field("error")
    return struct.name.endswith("Error") and error is not None and error.required


def _answer_ways(schema: Schema) -> frozenset[Way]:
    return frozenset(
        _BACK[way]
        for m in schema.methods
        if m.kind == "request" and m.direction != "input-request"
        for way, _ in _carried(m)
    )


def _walk(pairing: Pairing, root: Route) -> dict[Owner, Route]:
    surest: dict[Owner, Route] = {}
    seen: set[tuple[Type, Type]] = set()
    # What every message contains is walked first, so that the surest route is the one that is kept.
    sure, maybe = deque([(root.old, root.new, root)]), deque[tuple[Type, Type, Route]]()
    while sure or maybe:
        a, b, route = (sure or maybe).popleft()
        if isinstance(a, Ref) and isinstance(b, Ref) and pairing.names.get(a.name) == b.name:
            surest.setdefault((a.name, b.name), route)
        if (a, b) in seen:
            continue
        seen.add((a, b))
        for x, y, below in _inside(pairing, a, b, route):
            (sure if all(below.surely) else maybe).append((x, y, below))
    return surest


def _inside(pairing: Pairing, a: Type, b: Type, route: Route) -> Iterator[tuple[Type, Type, Route]]:
    x, y = unaliased(pairing.old, a), unaliased(pairing.new, b)
    if (x, y) != (a, b):
        yield x, y, route
        return
    match a, b:
        case Ref(), Ref():
            yield from _members(pairing, a.name, b.name, route)
        case (Bounded(), _) | (_, Bounded()):
            inner = a.of if isinstance(a, Bounded) else a, b.of if isinstance(b, Bounded) else b
            yield *inner, route
        case _ if isinstance(a, Uni) or isinstance(b, Uni):
            yield from _arms(pairing, a, b, route)
        case _ if type(a) is type(b):
            below = route.below(VALUE if isinstance(a, Map) else ITEM)
            yield from ((p, q, below) for p, q in zip(children(a), children(b), strict=False))
        case _:
            return


def _members(pairing: Pairing, a: str, b: str, route: Route) -> Iterator[tuple[Type, Type, Route]]:
    x, y = pairing.old.structs[a], pairing.new.structs[b]
    for field in x.fields:
        twin = y.field(field.wire)
        if twin is not None:
            below = route.below(field.wire, field.required, twin.required)
            yield field.type, twin.type, below
    if x.index is not None and y.index is not None:
        yield x.index, y.index, route.below(VALUE)


def _arms(pairing: Pairing, a: Type, b: Type, route: Route) -> Iterator[tuple[Type, Type, Route]]:
    mine, theirs = leaves(pairing.old, a), leaves(pairing.new, b)
    for x in filter(_is_walkable, mine):
        for y in filter(_is_walkable, theirs):
            if pairing.same(x, y) or not (isinstance(x, Ref) and isinstance(y, Ref)):
                yield x, y, route.below((x, y), len(mine) == 1, len(theirs) == 1)
    named = [x for x in mine if isinstance(x, Ref)], [y for y in theirs if isinstance(y, Ref)]
    for x in named[0]:
        for y in named[1]:
            lonely = pairing.names.get(x.name) not in {r.name for r in named[1]}
            if lonely and not pairing.same(x, y):
                yield x, y, route.below((x, y), len(mine) == 1, len(theirs) == 1)
    for one_sided in _aliases(pairing, a, b):
        yield *one_sided, route


def _is_walkable(type: Type) -> bool:
    return not isinstance(type, Lit | Prim)


def _aliases(pairing: Pairing, a: Type, b: Type) -> Iterator[tuple[Type, Type]]:
    """Arms that are paired aliases: flattened above, but their changes are reported at them."""
    for x in a.arms if isinstance(a, Uni) else (a,):
        for y in b.arms if isinstance(b, Uni) else (b,):
            named = isinstance(x, Ref) and isinstance(y, Ref) and pairing.same(x, y)
            if named and not (_is_struct(pairing.old, x) and _is_struct(pairing.new, y)):
                yield x, y


def _is_struct(schema: Schema, type: Type) -> bool:
    return isinstance(type, Ref) and type.name in schema.structs
