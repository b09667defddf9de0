"""What every step shares: losses, contexts, refusals, and what converts arrays and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from .._wire.faults import path
from .._wire.values import At, Json


class Loss(NamedTuple):
    """What the other revision cannot say: where it was in the message, what became of it, why."""

    path: str
    what: str
    why: str


@dataclass(frozen=True)
class Context:
    """What a handshake agreed once, and a later revision writes into every message.

    The values are parsed JSON in the shapes of the revision that writes them: an `Implementation`,
    `ClientCapabilities`, an `Implementation`, a `LoggingLevel`. None is what is not known. They
    are put into messages as they are, so they are not changed once the context is in use.
    `result_types` are the values of `resultType` that extensions in use add to the revision's own.
    """

    client_info: Mapping[str, Json] | None = None
    client_capabilities: Mapping[str, Json] | None = None
    server_info: Mapping[str, Json] | None = None
    log_level: str | None = None
    result_types: frozenset[str] = frozenset()
    _fitting: set[str] = field(
        default_factory=set[str], init=False, repr=False, compare=False
    )

    def fits(self, revision: str, *, now: bool = False) -> bool:
        """Return whether messages of a revision are known to take it; `now` they are."""
        if now:
            self._fitting.add(revision)
        return revision in self._fitting


class StepError(Exception):
    """A message that cannot be converted."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Its `args` are the text, which is not what its constructor takes."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class Refused(StepError):
    """The other revision has nothing for it: the JSON-RPC error that says so, and where it was."""

    def __init__(self, path: str, code: int, message: str, why: str) -> None:
        super().__init__(f"{path}: {message} ({code}): {why}")
        self.path = path
        self.code = code
        self.message = message
        self.why = why


class NotAMessageMatter(StepError):
    """A matter of how two sides talk, which no single message says; `handled_by` is who does."""

    def __init__(self, path: str, handled_by: str, message: str, why: str) -> None:
        super().__init__(f"{path}: {message}; this is for {handled_by}: {why}")
        self.path = path
        self.handled_by = handled_by
        self.message = message
        self.why = why


class NeedsContext(StepError):
    """A context lacks `member`, or has something there that does not fit."""

    def __init__(self, member: str, why: str) -> None:
        super().__init__(f"context.{member}: {why}")
        self.member = member
        self.why = why


class Refusal(NamedTuple):
    """How a method is refused; `runtime` is the part that handles it, empty where none does."""

    code: int
    message: str
    why: str
    runtime: str = ""

    def at(self, place: At) -> StepError:
        """The error that refuses what was at a place."""
        if self.runtime:
            return NotAMessageMatter(path(place), self.runtime, self.message, self.why)
        return Refused(path(place), self.code, self.message, self.why)


class Trip:
    """One message on its way: the context, and the losses so far."""

    __slots__ = ("_lost", "_names", "_noted", "_whole", "context")

    def __init__(self, context: Context) -> None:
        self.context = context
        self._noted: list[tuple[At, str, str]] = []
        self._lost: dict[At, bool] = {}  # False where something was added
        self._names: dict[At, At] = {}
        self._whole: set[At] = set()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What was lost so far, at places of the message as it was at first."""
        if not self._noted:
            return ()
        return tuple(
            Loss(path(at if self._lost[at] else self._outer(at)), what, why)
            for at, what, why in self._noted
        )

    def lose(self, at: At, what: str, why: str) -> None:
        """Notes a loss; one inside of what an earlier step has lost is reported at that place."""
        at = self._outer(self._first(at))
        self._lost[at] = True
        self._noted.append((at, what, why))

    def add(self, at: At, what: str, why: str) -> None:
        """Notes that something stands where nothing was."""
        at = self._first(at)
        self._lost[at] = False
        self._noted.append((at, what, why))

    def rename(self, at: At, to: str) -> None:
        """Notes that what is at a place has another name from now on."""
        if at is not None:
            self._names[at[0], to] = self._first(at)

    def move(self, at: At, to: At, *, whole: bool = False) -> None:
        """Notes that what is at a place stands elsewhere from now on.

        `whole`: losses inside of it are reported at the place itself.
        """
        self._names[to] = first = self._first(at)
        if whole:
            self._whole.add(first)

    def _first(self, at: At) -> At:
        """The place in the message as it was at first."""
        if at is None or not self._names:
            return at
        return self._names.get(at) or (self._first(at[0]), at[1])

    def _outer(self, at: At) -> At:
        """The outermost place around `at` that was lost; `at` itself if there is none."""
        place = at
        while place is not None:
            place = place[0]
            if self._lost.get(place) or place in self._whole:
                at = place
        return at

    def squat(self, o: Json, wire: str, at: At, why: str) -> Json:
        """`o` without a member that its sender's revision did not know."""
        self.lose((at, wire), f"`{wire}` is left out", why)
        return without(o, wire)

    def need(self, member: str) -> Json:
        """A member of the context. Raises NeedsContext if it is not there."""
        value = getattr(self.context, member)
        if value is None:
            raise NeedsContext(member, "a request needs it, and it is not there")
        return value


Step: TypeAlias = Callable[[Json, At, Trip], Json]
"""Takes a value, its place and the trip; the value itself comes back where nothing changes."""


def refused(at: At, code: int, message: str, why: str, runtime: str = "") -> StepError:
    """The error that refuses what was at a place."""
    return Refusal(code, message, why, runtime).at(at)


def without(o: Json, wire: str) -> Json:
    """`o` without a member."""
    rest = o.copy()
    rest.pop(wire, None)
    return rest


def renamed(o: Json, wire: str, to: str, value: Json) -> Json:
    """`o` with a member under another name."""
    return {**without(o, wire), to: value}


def each(step: Step, x: Json, at: At, trip: Trip) -> Json:
    """An array with every item converted; the array itself where none changes."""
    array: list[Json] = x
    return _converted(step, x, enumerate(array), at, trip)


def values(step: Step, x: Json, at: At, trip: Trip) -> Json:
    """An object with every value converted; the object itself where none changes."""
    return _converted(step, x, x.items(), at, trip)


def rest(step: Step, x: Json, known: frozenset[str], at: At, trip: Trip) -> Json:
    """An object with the values of unlisted members converted."""
    items = [item for item in x.items() if item[0] not in known]
    return _converted(step, x, items, at, trip) if items else x


def _converted(
    step: Step, x: Json, items: Iterable[tuple[str | int, Json]], at: At, trip: Trip
) -> Json:
    new = x
    for key, item in items:
        value = step(item, (at, key), trip)
        if value is not item:
            new = x.copy() if new is x else new
            new[key] = value
    return new


def same(a: Json, b: Json) -> bool:
    """Return whether two JSON values are equal; 1, 1.0 and true are three values."""
    if a.__class__ is dict and b.__class__ is dict:
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if a.__class__ is list and b.__class__ is list:
        return len(a) == len(b) and all(map(same, a, b))
    return a.__class__ is b.__class__ and bool(a == b) and repr(a) == repr(b)


def has_data(error: Json, member: str) -> bool:
    """Return whether the data of an error has a member."""
    data = error.get("data")
    return data.__class__ is dict and member in data
