"""The proof of a verdict: the smallest message which one side may send and the other must refuse.

A message acceptable to both sides is built around the place of the change; there, values of the
writer's type are tried until the reader refuses one, at that place and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Literal, Protocol, TypeAlias

from mcp_bindgen.compare.changes.change import Change
from mcp_bindgen.compare.changes.pairing import Pairing
from mcp_bindgen.compare.judge.probes import Messages, Pair, Probe
from mcp_bindgen.compare.judge.samples import Samples, UnmakeableError, weight
from mcp_bindgen.compare.judge.wire import on_the_wire
from mcp_bindgen.compare.messages.directions import Route, Way
from mcp_bindgen.ir.model import Bounded
from mcp_bindgen.ir.values.accepts import Fault, Path, accepts, fault, faults
from mcp_bindgen.json_values import object_of

__all__ = ["ByTypes", "Exact", "Proof", "Prover", "Side", "Witness"]

Side: TypeAlias = Literal["old", "new"]

_TRIES: Final = 400
"""Values tried at one place before the search for a witness ends."""
_ROUTES: Final = 8
"""Messages tried, of those with the place."""
_OTHERS: Final[dict[Side, tuple[Side, int]]] = {"old": ("new", 0), "new": ("old", 1)}
"""The other side of each, and the number of each."""
_KINDS: Final = {
    "request": "no id, as in a notification",
    "notification": "an id, as in a request",
}
"""The text expected by readers of a message which is a request, or a notification, to its writer
only.
"""
_UNKNOWN_METHOD: Final = Fault(("method",), "a method that it knows, sent this way")
_UNKNOWN_RESULT: Final = Fault((), "a result that it knows")
_NODES: Final = 250_000
"""Total size of the witnesses of one comparison, in JSON values; then no more are shown."""
_ONE_SIDED: Final = "no types say which of these messages the other side reads"
_UNBOUND: Final = "which values a tag leaves out is unknown where it cannot be bound"
_ANY_CODE: Final = "an error of any code is read"
_TOO_LARGE: Final = "messages are refused, but those of this comparison are too large to show more"


@dataclass(frozen=True, slots=True)
class Witness:
    """`message` is JSON which the `writer` side's schema allows in the direction `way`; the other
    side refuses it at `path`, where it expects `expected`. `part` is its part of the method:
    message, input request, result, input response, error or envelope.
    """

    writer: Side
    way: Way
    method: str
    part: str
    message: Any
    path: str
    expected: str


class Exact(Protocol):
    """Knows the constraints outside the types of the two schemas."""

    def leaves_out(self, side: Side, method: str, part: str) -> bool:
        """Return whether the types of a side leave out something about this part of a method."""
        ...

    def accepts(self, side: Side, witness: Witness) -> bool | None:
        """Return whether a side's schema, with all constraints, accepts a witness's message; None
        if unknown.
        """
        ...


class ByTypes:
    """An `Exact` without further knowledge: a value accepted by the types is accepted."""

    def leaves_out(self, side: Side, method: str, part: str) -> bool:
        del side, method, part
        return False

    def accepts(self, side: Side, witness: Witness) -> bool | None:
        del side, witness
        return True


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of trying messages: a witness, or the reason why there is none.

    `plainest` tells whether the reader refuses the plainest message of those routes on which every
    message has the place; None if unknown.
    """

    witness: Witness | None = None
    reason: str = ""
    plainest: bool | None = None


@dataclass(frozen=True, slots=True)
class _Try:
    """A message the writer may send, by its types, and whether the reader's types accept it.

    `fault` is the reader's fault at the place, or the fault it would have. The message is made on
    demand, since it may be large.
    """

    message: Callable[[], Any]
    fault: Fault
    taken: bool


@dataclass(frozen=True, slots=True)
class _Trial:
    """The result of one route: the number of messages tried, and whether the first was refused;
    `unmade`: a refused message was too large to show.
    """

    witness: Witness | None = None
    tried: int = 0
    first_refused: bool = False
    unmade: bool = False


class Prover:
    """Tries messages of each side of a comparison against the other."""

    def __init__(self, pairing: Pairing, exact: Exact) -> None:
        self.exact = exact
        self.left = _NODES
        old, new = Samples(pairing.old), Samples(pairing.new)
        self.messages: dict[Side, Messages] = {
            "old": Messages(old, new, 0),
            "new": Messages(new, old, 1),
        }

    def prove(self, change: Change, routes: tuple[Route, ...], writer: Side, way: Way) -> Proof:
        """Find the smallest witness on the first routes in direction `way`, starting with the
        routes on which every message has the place.
        """
        if change.key[0] == "envelope":
            return Proof(reason=_ONE_SIDED)
        if change.key[:2] == ("declaration", "unread"):
            return Proof(reason=_UNBOUND)
        if change.key[0] == "error":
            return Proof(reason=_ANY_CODE)
        other, index = _OTHERS[writer]
        usable = [route for route in routes if way in route.ways and route.side != other]
        usable.sort(key=lambda route: not route.surely[index])
        trials = [(r, self._on_route(change, r, writer, way)) for r in usable[:_ROUTES]]
        witnesses = [trial.witness for _, trial in trials if trial.witness is not None]
        sure = [trial for route, trial in trials if route.surely[index] and trial.tried]
        plainest = any(trial.first_refused for trial in sure) if sure else None
        if witnesses:
            smallest = min(witnesses, key=_length) if len(witnesses) > 1 else witnesses[0]
            return Proof(smallest, plainest=plainest)
        if any(trial.unmade for _, trial in trials):
            return Proof(reason=_TOO_LARGE, plainest=plainest)
        count = sum(trial.tried for _, trial in trials)
        return Proof(reason=_reason(writer, count), plainest=plainest)

    def _on_route(self, change: Change, route: Route, writer: Side, way: Way) -> _Trial:
        messages = self.messages[writer]
        pair = Pair(*((route.old, route.new) if writer == "old" else (route.new, route.old)))
        if route.side != "both":
            unknown = _UNKNOWN_RESULT if route.part == "result" else _UNKNOWN_METHOD
            return self._whole_message(messages, pair, route, writer, way, unknown)
        if change.key[:2] == ("method", "kind"):
            kind = next(m for m in messages.writer.schema.methods if m.name == route.method).kind
            other = Fault(("id",), _KINDS[kind])
            named = replace(route, kind=kind)
            return self._whole_message(messages, pair, named, writer, way, other)
        vague = [self.exact.leaves_out(side, route.method, route.part) for side in _OTHERS]
        tried = 0
        for attempt in islice(_tries(messages, pair, change, route), _TRIES):
            if not any(vague):
                if not attempt.taken:
                    return self._end_trial(messages, route, writer, way, attempt, tried)
                tried += 1
                continue
            witness = _witness(messages, route, writer, way, attempt)
            if self.exact.accepts(writer, witness) is not True:
                continue
            taken = attempt.taken and self.exact.accepts(_OTHERS[writer][0], witness)
            if taken is False:
                return _Trial(witness, tried + 1, first_refused=not tried)
            tried += taken is True
        return _Trial(None, tried)

    def _end_trial(
        self,
        messages: Messages,
        route: Route,
        writer: Side,
        way: Way,
        attempt: _Try,
        tried: int,
    ) -> _Trial:
        """End the trial with this message; without a witness if the size limit is used up."""
        if self.left <= 0:
            return _Trial(None, tried + 1, first_refused=not tried, unmade=True)
        witness = _witness(messages, route, writer, way, attempt)
        self.left -= weight(witness.message)
        return _Trial(witness, tried + 1, first_refused=not tried)

    def _whole_message(
        self, messages: Messages, pair: Pair, route: Route, writer: Side, way: Way, fault: Fault
    ) -> _Trial:
        """The trial of a message which the reader refuses whatever its content."""
        try:
            message = messages.writer.smallest(pair.of)
        except UnmakeableError:
            return _Trial()
        if route.part != "result" and "method" in (members := object_of(message) or {}):
            # A declaration of several methods: the message is that of the route's. (A tool is a
            # method of its surface, and its calls are all of `tools/call`.)
            named = {**members, "method": route.method}
            message = named if accepts(messages.writer.schema, pair.of, named) else message
        witness = _witness(messages, route, writer, way, _Try(lambda: message, fault, taken=False))
        return _Trial(witness, 1, first_refused=True)


def _reason(writer: Side, count: int) -> str:
    if not count:
        return f"no message of the {writer} side could be made"
    other, _ = _OTHERS[writer]
    tried = "the one message" if count == 1 else f"all {count} messages"
    return f"the {other} side accepts {tried} of the {writer} side that were tried"


def _length(witness: Witness) -> int:
    return len(json.dumps(witness.message))


# ---- messages


def _tries(messages: Messages, pair: Pair, change: Change, route: Route) -> Iterator[_Try]:
    """Messages the writer may send, the plainest first."""
    try:
        owner = messages.along(messages.whole(pair), route.steps)
    except UnmakeableError:
        return
    if change.key[0] == "member":
        yield from _without_member(messages, pair, owner, change.steps)
    try:
        probe = messages.along(owner, change.steps)
    except UnmakeableError:
        return
    for value in _values(messages, probe, change):
        if probe.path or value != []:  # an empty batch is not a message
            yield from _try_value(messages, pair, probe, value, probe.path)


def _without_member(
    messages: Messages, root: Pair, owner: Probe, steps: tuple[str, ...]
) -> Iterator[_Try]:
    """The plainest message with every member but this one."""
    try:
        around = messages.along(owner, steps[:-1])
        base = messages.plain_object(around)
        members = object_of(messages.find_shared(around.pair)) if base is None else base
    except UnmakeableError:
        return
    if members is None:
        return
    name, place = steps[-1], (*around.path, steps[-1])

    def rest() -> dict[str, Any]:
        return {key: item for key, item in members.items() if key != name}

    if base is None:
        yield from _try_value(messages, root, around, rest(), place)
        return
    mine, theirs = messages.members_at(around, name)
    if mine is None or not mine.required:
        needed = theirs is not None and theirs.required
        missing = Fault(place, "a required member") if needed else None
        yield _try(lambda: around.fill(rest()), place, missing)


def _try_value(
    messages: Messages, root: Pair, probe: Probe, value: Any, place: Path
) -> Iterator[_Try]:
    """The message with a value in the probe, if the writer may send it."""
    writer, reader = messages.writer.schema, messages.reader.schema
    if probe.sound:
        if accepts(writer, probe.pair.of, value):
            read = probe.pair.read
            local = fault(reader, read, value, probe.path) if read is not None else None
            yield _try(lambda: probe.fill(value), place, local)
        return
    message = probe.fill(value)
    if accepts(writer, root.of, message):
        assert root.read is not None
        at_place = (f for f in faults(reader, root.read, message) if _on_branch(f.path, place))
        yield _try(lambda: message, place, next(at_place, None))


def _try(message: Callable[[], Any], place: Path, fault: Fault | None) -> _Try:
    return _Try(message, fault or Fault(place, "what its schema accepts"), taken=fault is None)


def _values(messages: Messages, probe: Probe, change: Change) -> Iterator[Any]:
    """Values of the arm in question, then any values, then values at the reader's bounds."""
    own, other = (change.old, change.new)[:: 1 if messages.side == 0 else -1]
    types = (own.type, probe.pair.of)
    for type in dict.fromkeys(type for type in types if type is not None):
        yield from messages.writer.variants(type)
    if isinstance(other.type, Bounded):
        yield from messages.writer.edges(probe.pair.of, other.type.limits)


def _on_branch(path: Path, place: Path) -> bool:
    """Return whether a fault at `path` can belong to the value at `place`."""
    return all(a == b for a, b in zip(path, place, strict=False))


def _witness(messages: Messages, route: Route, writer: Side, way: Way, attempt: _Try) -> Witness:
    whole, prefix = on_the_wire(messages.writer, route, attempt.message(), attempt.fault.path)
    at = Fault((*prefix, *attempt.fault.path), attempt.fault.expected)
    path, _, expected = str(at).partition(": expected ")
    return Witness(writer, way, route.method, route.part, whole, path, expected)
