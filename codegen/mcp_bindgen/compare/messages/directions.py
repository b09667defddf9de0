"""Finds the direction of each message, its response, and its envelope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mcp_bindgen.compare.changes.pairing import Pairing
from mcp_bindgen.ir.envelopes import envelopes, union_of_envelopes
from mcp_bindgen.ir.model import (
    Method,
    Prim,
    Ref,
    Schema,
    Struct,
    Type,
)

__all__ = [
    "ANYTHING",
    "OR",
    "TO_CLIENT",
    "TO_SERVER",
    "Route",
    "Step",
    "Way",
    "back",
    "of_method",
    "parties",
    "result_route",
    "roots",
    "twins",
]

Way: TypeAlias = str
"""From one role to another: client-to-server, or view-to-host."""
Side: TypeAlias = Literal["old", "new", "both"]
Step: TypeAlias = str | int | tuple[Type, Type]
"""A wire name, ITEM, VALUE, the number of a place in a tuple, or the arm of a union in the old and
the new schema."""

TO_SERVER: Final[Way] = "client-to-server"
TO_CLIENT: Final[Way] = "server-to-client"
OR: Final = " or "
"""Separates the ways in a direction with several."""
_CORE: Final = ("client", "server")
_INPUT: Final = "input request"
_CARRIED: Final[dict[str, frozenset[tuple[Way, str]]]] = {
    "both": frozenset({(TO_SERVER, "message"), (TO_CLIENT, "message")}),
    "input-request": frozenset({(TO_CLIENT, _INPUT)}),
    "none": frozenset(),
}
"""The ways and the parts of a method's messages, for a direction with several ways."""
ANYTHING: Final = Prim("unknown")


@dataclass(frozen=True, slots=True)
class Route:
    """The route to a pair of types: the message's two types, its ways, the steps inside.

    `part` is message, input request, result, input response, error or envelope; `kind` is request,
    notification, result or error. `surely` tells, for the old and the new schema, whether every
    such message contains the pair. `side` is the schema with these ways: old, new or both.
    `covered`: every value from writers of the old, or new, schema is accepted by another arm of the
    readers' union, so no change inside can make them refuse it.
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
    covered: tuple[bool, bool] = (False, False)

    def below(self, step: Step, old: bool = False, new: bool = False) -> Route:
        """One step deeper; `old` and `new` tell whether the step always exists."""
        sure = self.surely
        return replace(self, steps=(*self.steps, step), surely=(sure[0] and old, sure[1] and new))


def of_method(old: Method | None, new: Method | None) -> Iterator[Route]:
    """The routes of a method's own message: by the old schema alone, the new alone, and both."""
    before, after = _carries(old), _carries(new)
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


def _carries(method: Method | None) -> frozenset[tuple[Way, str]]:
    if method is None:
        return frozenset()
    ways = method.direction.split(OR)
    return _CARRIED.get(method.direction, frozenset((way, "message") for way in ways))


def parties(schemas: Iterable[Schema], more: Iterable[Route] = ()) -> tuple[str, ...]:
    """The roles which send or read messages of these schemas or on the additional routes."""
    ways = [way for s in schemas for m in s.methods for way, _ in sorted(_carries(m))]
    ways += [way for route in more for way in sorted(route.ways)]
    roles = dict.fromkeys(role for way in ways for role in way.split("-to-"))
    return _CORE if roles.keys() <= {*_CORE} else tuple(roles)


def roots(pairing: Pairing) -> Iterator[Route]:
    """The messages in both schemas, their responses and their envelopes."""
    for a, b in twins(pairing):
        for route in of_method(a, b):
            if route.side == "both":
                yield route
                yield from result_route(a, b, route)
    yield from _envelopes(pairing)
    if envelopes(pairing.old) and envelopes(pairing.new):
        yield from _errors(pairing)


def twins(pairing: Pairing) -> Iterator[tuple[Method, Method]]:
    """The methods which both schemas have, in pairs."""
    after = {m.name: m for m in pairing.new.methods}
    return ((m, after[m.name]) for m in pairing.old.methods if m.name in after)


def result_route(a: Method, b: Method, asked: Route) -> Iterator[Route]:
    """The route to the method's result, from the route of its request; an undeclared result may be
    any JSON.
    """
    if a.result or b.result:
        part = "input response" if asked.part == _INPUT else "result"
        types = a.result or ANYTHING, b.result or ANYTHING
        yield Route(a.name, part, _back(asked.ways), *types, kind="result")


def back(way: Way) -> Way:
    """The opposite direction: the way of the response."""
    return "-to-".join(reversed(way.split("-to-")))


def _back(ways: frozenset[Way]) -> frozenset[Way]:
    return frozenset(map(back, ways))


def _envelopes(pairing: Pairing) -> Iterator[Route]:
    """The routes to the envelopes: around the messages of each method, and around any message."""
    union = union_of_envelopes(pairing.old)
    if pairing.names.get(union) == union_of_envelopes(pairing.new):
        types = Ref(union), Ref(pairing.names[union])
        yield Route("", "envelope", frozenset((TO_SERVER, TO_CLIENT)), *types)
    after = envelopes(pairing.new).values()
    for kind, struct in envelopes(pairing.old).items():
        twin = next((s for s in after if s.name == pairing.names.get(struct.name)), None)
        if twin is not None:
            types = Ref(struct.name), Ref(twin.name)
            for a, b in twins(pairing):
                yield from _around(a, b, Route("", "", frozenset(), *types, kind=kind))


def _around(a: Method, b: Method, envelope: Route) -> Iterator[Route]:
    """The envelope of the method's messages, or of their responses."""
    answers = envelope.kind in ("result", "error")
    if a.kind != b.kind or a.kind != ("request" if answers else envelope.kind):
        return
    part = "error" if envelope.kind == "error" else "envelope"
    for route in of_method(a, b):
        if route.side == "both" and route.part == "message":
            ways = _back(route.ways) if answers else route.ways
            sure = part != "error"  # what is used mostly answers without one
            yield replace(envelope, method=a.name, part=part, ways=ways, surely=(sure, sure))


def _errors(pairing: Pairing) -> Iterator[Route]:
    """Errors with declarations of their own, in the directions of responses."""
    old, new = pairing.old, pairing.new
    for name, twin in pairing.names.items():
        x, y = old.types[name], new.types[twin]
        if isinstance(x, Struct) and isinstance(y, Struct) and _is_error(x) and _is_error(y):
            ways = _answer_ways(old) & _answer_ways(new)
            yield Route("", "error", ways, Ref(name), Ref(twin), kind="error")


def _is_error(struct: Struct) -> bool:
    error = struct.field("error")
    return struct.name.endswith("Error") and error is not None and error.required


def _answer_ways(schema: Schema) -> frozenset[Way]:
    return frozenset(
        back(way)
        for m in schema.methods
        if m.kind == "request" and m.direction != "input-request"
        for way, _ in _carries(m)
    )
