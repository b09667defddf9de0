"""The proof of a verdict: the smallest message that one side may send and the other must refuse.

A message is built that both sides would take, but for the place of the change; there, values of the
writer's type are tried until the reader refuses one, at that place and nowhere before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from mcp_bindgen.compare.change import ITEM, VALUE, Change
from mcp_bindgen.compare.judge.samples import (
    Pair,
    UnmakeableError,
    edges,
    placed,
    shared,
    smallest,
    variants,
)
from mcp_bindgen.compare.pairing import Pairing
from mcp_bindgen.compare.travel import Route, Step, Way
from mcp_bindgen.ir.accepts import Fault, Path, fault
from mcp_bindgen.ir.model import Bounded

__all__ = ["Side", "Witness", "prove"]

Side: TypeAlias = Literal["old", "new"]

_TRIES: Final = 400
"""Values tried at one place before the search for a witness ends."""
_ROUTES: Final = 8
"""Messages tried, of those that have the place."""
_KEYS: Final[dict[str, str | int]] = {ITEM: 0, VALUE: "key"}


@dataclass(frozen=True, slots=True)
class Witness:
    """`message` is JSON that the `writer` side's schema allows to travel `way`; the other refuses
    it at `path` (of the whole message), where it expects `expected`. `part` is what of the method
    it is: message, result, error or envelope."""

    writer: Side
    way: Way
    method: str
    part: str
    message: Any
    path: str
    expected: str


def prove(
    pairing: Pairing, change: Change, routes: tuple[Route, ...], writer: Side, way: Way
) -> Witness | str:
    """The smallest witness among the first routes that travel `way`, or why there is none."""
    other: Side = "new" if writer == "old" else "old"
    usable = [r for r in routes if way in r.ways and r.side != other][:_ROUTES]
    tried = [_on_route(pairing, change, route, writer, way) for route in usable]
    witnesses = [proof for proof in tried if isinstance(proof, Witness)]
    if witnesses:
        return min(witnesses, key=lambda proof: len(json.dumps(proof.message)))
    count = sum(proof for proof in tried if isinstance(proof, int))
    if not count:
        return f"no message of the {writer} side could be made"
    return f"the other side takes each of {count} messages of the {writer} side that were tried"


def _on_route(
    pairing: Pairing, change: Change, route: Route, writer: Side, way: Way
) -> Witness | int:
    """A witness, or how many messages were tried in vain."""
    if route.side != "both":
        return _unknown_method(pairing, route, writer, way)
    pair = _pair(pairing, route, writer)
    assert pair.read is not None
    tried = 0
    for message, place in islice(_messages(pair, change, route, writer), _TRIES):
        if fault(pair.writer, pair.of, message) is None:
            tried += 1
            refused = fault(pair.reader, pair.read, message)
            if refused is not None and _on_branch(refused.path, place):
                return _witness(route, writer, way, message, refused)
    return tried


def _pair(pairing: Pairing, route: Route, writer: Side) -> Pair:
    if writer == "old":
        return Pair(pairing.old, pairing.new, route.old, route.new)
    return Pair(pairing.new, pairing.old, route.new, route.old)


def _unknown_method(pairing: Pairing, route: Route, writer: Side, way: Way) -> Witness | int:
    pair = _pair(pairing, route, writer)
    try:
        message = smallest(pair.writer, pair.of)
    except UnmakeableError:
        return 0
    unknown = Fault(("method",), "a method that it knows, sent this way")
    return _witness(route, writer, way, message, unknown)


def _messages(pair: Pair, change: Change, route: Route, writer: Side) -> Iterator[tuple[Any, Path]]:
    """Whole messages, each with the path at which it is of the writer's own mind."""
    side = 0 if writer == "old" else 1
    if change.key[0] == "member":
        yield from _without(pair, (*route.steps, *change.steps[:-1]), side, change.steps[-1])
    steps = (*route.steps, *change.steps)
    place = _path(steps)
    for frame, hole in _frames(pair, steps, side):
        for value in _values(hole, change, side):
            yield _put(frame, place, value), place


def _without(
    pair: Pair, steps: tuple[Step, ...], side: int, member: str
) -> Iterator[tuple[Any, Path]]:
    place = _path(steps)
    for frame, hole in _frames(pair, steps, side):
        with suppress(UnmakeableError):
            value: dict[str, Any] = dict(shared(hole))
            value.pop(member, None)
            yield _put(frame, place, value), (*place, member)


def _frames(pair: Pair, steps: tuple[Step, ...], side: int) -> Iterator[tuple[Any, Pair]]:
    """A message with a hole at the end of `steps`, and what may stand in the hole; or nothing."""
    holes: list[Pair] = []
    try:
        yield placed(pair, steps, side, holes.append), holes[-1]
    except UnmakeableError:
        return


def _path(steps: tuple[Step, ...]) -> Path:
    """Where `placed` puts what stands at the end of `steps`."""
    return tuple(_KEYS.get(step, step) for step in steps if isinstance(step, str))


def _put(frame: Any, path: Path, value: Any) -> Any:
    """A copy of `frame` with `value` at `path`."""
    if not path:
        return value
    made = copy(frame)
    made[path[0]] = _put(frame[path[0]], path[1:], value)
    return made


def _values(hole: Pair, change: Change, side: int) -> Iterator[Any]:
    """Those of the arm in question first, then any."""
    own = (change.old, change.new)[side].type
    for type in dict.fromkeys(t for t in (own, hole.of) if t is not None):
        yield from _made(variants(hole.writer, type))
    beyond = (change.new, change.old)[side].type
    if isinstance(beyond, Bounded):
        yield from _made(edges(hole.writer, hole.of, beyond.limits))


def _made(values: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from values
    except UnmakeableError:
        return


def _on_branch(path: Path, place: Path) -> bool:
    """Whether a fault at `path` can be one of the value at `place`."""
    return all(a == b for a, b in zip(path, place, strict=False))


def _witness(route: Route, writer: Side, way: Way, message: Any, refused: Fault) -> Witness:
    whole, prefix = _whole(route, message)
    fault = Fault((*prefix, *refused.path), refused.expected)
    path, _, expected = str(fault).partition(": expected ")
    return Witness(writer, way, route.method, route.part, whole, path, expected)


def _whole(route: Route, message: Any) -> tuple[Any, Path]:
    """The message as it is on the wire, and where in it the typed part begins."""
    if route.part == "result":
        return {"jsonrpc": "2.0", "id": 0, "result": message}, ("result",)
    if route.part == "message":
        head = {"jsonrpc": "2.0", "id": 0} if route.kind == "request" else {"jsonrpc": "2.0"}
        return head | message, ()
    return message, ()
