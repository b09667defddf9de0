"""Shared by all conversion steps: notes losses, refuses values, and converts arrays and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from .._wire.faults import path
from .._wire.values import At, Json


class Loss(NamedTuple):
    """A part of a message without a form in the other revision: its path, its fate, the reason."""

    path: str
    what: str
    why: str


@dataclass(frozen=True)
class Context:
    """The results of a handshake, which later revisions write into every message.

    The values are parsed JSON in the shapes of the revision that writes them: an `Implementation`,
    `ClientCapabilities`, an `Implementation`, a `LoggingLevel`; None if unknown. Messages share
    them, so do not change them while the context is in use. `result_types` are the values of
    `resultType` added by extensions in use.
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
        """Return whether the values were checked for a revision; `now=True` notes it."""
        if now:
            self._fitting.add(revision)
        return revision in self._fitting


class StepError(Exception):
    """A message has no form in the other revision."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild without the constructor, since `args` are its text and not its arguments."""
        return type(self).__new__, (type(self), *self.args), vars(self)


class Refused(StepError):
    """The other revision has no such thing: the JSON-RPC error to answer, and the path."""

    def __init__(self, path: str, code: int, message: str, why: str) -> None:
        super().__init__(f"{path}: {message} ({code}): {why}")
        self.path = path
        self.code = code
        self.message = message
        self.why = why


class NotAMessageMatter(StepError):
    """No single message says this in the other revision; `handled_by` is the part which handles it.

    Examples are the handshake and subscriptions.
    """

    def __init__(self, path: str, handled_by: str, message: str, why: str) -> None:
        super().__init__(f"{path}: {message}; this is for {handled_by}: {why}")
        self.path = path
        self.handled_by = handled_by
        self.message = message
        self.why = why


class NeedsContext(StepError):
    """The context lacks `member`, or its value does not fit."""

    def __init__(self, member: str, why: str) -> None:
        super().__init__(f"context.{member}: {why}")
        self.member = member
        self.why = why


class Refusal(NamedTuple):
    """The refusal of a method; `runtime` is the part which handles it instead, or empty."""

    code: int
    message: str
    why: str
    runtime: str = ""

    def at(self, place: At) -> StepError:
        """Return the error for a place."""
        if self.runtime:
            return NotAMessageMatter(path(place), self.runtime, self.message, self.why)
        return Refused(path(place), self.code, self.message, self.why)


class Trip:
    """The conversion of one message: its context, and its losses so far."""

    __slots__ = ("_lost", "_names", "_noted", "_whole", "context")

    def __init__(self, context: Context) -> None:
        self.context = context
        self._noted: list[tuple[At, str, str]] = []
        self._lost: dict[At, bool] = {}  # False where something was added
        self._names: dict[At, At] = {}
        self._whole: set[At] = set()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far, with paths in the original message."""
        if not self._noted:
            return ()
        return tuple(
            Loss(path(at if self._lost[at] else self._outer(at)), what, why)
            for at, what, why in self._noted
        )

    def lose(self, at: At, what: str, why: str) -> None:
        """Note a loss. A loss inside of an earlier one is reported at the earlier one's place."""
        at = self._outer(self._first(at))
        self._lost[at] = True
        self._noted.append((at, what, why))

    def add(self, at: At, what: str, why: str) -> None:
        """Note an addition."""
        at = self._first(at)
        self._lost[at] = False
        self._noted.append((at, what, why))

    def rename(self, at: At, to: str) -> None:
        """Note the new name of a member."""
        if at is not None:
            self._names[at[0], to] = self._first(at)

    def move(self, at: At, to: At, *, whole: bool = False) -> None:
        """Note the new place of a value; with `whole`, losses inside are reported at the value."""
        self._names[to] = first = self._first(at)
        if whole:
            self._whole.add(first)

    def agree(self, member: str, old: Json, new: Json) -> None:
        """Convert a part of the context with a member, if the member has it from there."""
        if same(getattr(self.context, member), old):
            self.context = replace(self.context, **{member: new})

    def forget(self, at: At) -> None:
        """Drop the losses inside a member: the way back takes it from the context as a whole."""
        place = self._first(at)
        self._noted = [note for note in self._noted if not _is_inside(note[0], place)]
        self._lost = {
            at: lost for at, lost in self._lost.items() if not _is_inside(at, place)
        }

    def _first(self, at: At) -> At:
        """Return a place as a place in the original message."""
        if at is None or not self._names:
            return at
        return self._names.get(at) or (self._first(at[0]), at[1])

    def _outer(self, at: At) -> At:
        """Return the outermost lost place around `at`, or `at` itself."""
        place = at
        while place is not None:
            place = place[0]
            if self._lost.get(place) or place in self._whole:
                at = place
        return at

    def squat(self, o: Json, wire: str, at: At, why: str) -> Json:
        """Return `o` without a member unknown to its sender's revision, and note the loss."""
        self.lose((at, wire), f"`{wire}` is left out", why)
        return without(o, wire)

    def need(self, member: str) -> Json:
        """Return a member of the context. Raises NeedsContext if it is None."""
        value = getattr(self.context, member)
        if value is None:
            raise NeedsContext(member, "a request of this revision needs it")
        return value


def _is_inside(at: At, place: At) -> bool:
    while at is not None:
        if at == place:
            return True
        at = at[0]
    return False


Step: TypeAlias = Callable[[Json, At, Trip], Json]
"""Converts a value at a place; returns the value itself if nothing changes."""


def refusal(at: At, code: int, message: str, why: str, runtime: str = "") -> StepError:
    """Return the error for a place."""
    return Refusal(code, message, why, runtime).at(at)


def without(o: Json, wire: str) -> Json:
    """Return `o` without a member."""
    rest = o.copy()
    rest.pop(wire, None)
    return rest


def rename(o: Json, wire: str, to: str, value: Json) -> Json:
    """Return `o` with a member under another name."""
    return {**without(o, wire), to: value}


def each(step: Step, x: Json, at: At, trip: Trip) -> Json:
    """Convert every item of an array; return the array itself if none changes."""
    array: list[Json] = x
    return _convert_items(step, x, enumerate(array), at, trip)


def values(step: Step, x: Json, at: At, trip: Trip) -> Json:
    """Convert every value of an object; return the object itself if none changes."""
    return _convert_items(step, x, x.items(), at, trip)


def rest(step: Step, x: Json, known: frozenset[str], at: At, trip: Trip) -> Json:
    """Convert the values of all members which are not in `known`."""
    items = [item for item in x.items() if item[0] not in known]
    return _convert_items(step, x, items, at, trip) if items else x


def _convert_items(
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
    """Return whether two JSON values are equal; 1, 1.0 and true differ."""
    if a.__class__ is dict and b.__class__ is dict:
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if a.__class__ is list and b.__class__ is list:
        return len(a) == len(b) and all(map(same, a, b))
    return a.__class__ is b.__class__ and bool(a == b) and repr(a) == repr(b)


def has_data(error: Json, member: str) -> bool:
    """Return whether the data of an error has a member."""
    data = error.get("data")
    return data.__class__ is dict and member in data
