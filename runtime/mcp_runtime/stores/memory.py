"""Stores in the memory of one process; at a limit the oldest entries are dropped."""

from __future__ import annotations

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from mcp_runtime.core.session.held import KEPT, OF_PROCESS, SMALL, HeldBytes, Hold, Process
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import DELETED, EVENT_OVERHEAD, Kept, NoSuchEvent, Stored, TooManyTasks

_GONE: Final = Kept(DELETED, b"")
_SPARE: Final = 256
"""The least number of stored deadlines at which outdated deadlines are removed."""


def loop_time() -> float:
    """Return the seconds on the clock of the running event loop."""
    return asyncio.get_running_loop().time()


_Place: TypeAlias = tuple[str, int]
"""A stream, and the number of an event in it."""


@dataclass(slots=True, weakref_slot=True)
class _Events:
    """The events of one session, in the order of their arrival."""

    events: OrderedDict[_Place, bytes] = field(default_factory=OrderedDict[_Place, bytes])
    notes: dict[str, bytes] = field(default_factory=dict[str, bytes])
    size: int = 0
    hold: Hold | None = None
    """Counts the events for their peer; None for a few bytes, which count with the session."""

    def add(self, place: _Place, data: bytes) -> bool:
        """Add an event; return False if its number is taken."""
        if place in self.events:
            return False
        self.events[place] = data
        self.size += len(data) + EVENT_OVERHEAD
        return True

    def note(self, stream: str, note: bytes) -> None:
        if note:
            self.notes[stream] = note
        else:
            self.notes.pop(stream, None)

    def shrink(self, size: int) -> None:
        while self.size > size:
            _, data = self.events.popitem(last=False)
            self.size -= len(data) + EVENT_OVERHEAD

    def count(self, held_by: Callable[[], HeldBytes]) -> None:
        """Count the bytes, and offer them to be freed when memory is needed."""
        size = self.size + sum(map(len, self.notes.values()))
        if self.hold is None and size > SMALL:
            self.hold = Hold(held_by())
        if self.hold is not None:
            self.hold.change(size - self.hold.size)
            self.hold.offer(KEPT, self.give_up)

    def give_up(self) -> None:
        """Drop all events, to free memory for others."""
        self.notes.clear()
        self.events.clear()
        self.size, self.hold = 0, None


class MemoryEvents:
    """An event store with `Limits.event_bytes` for each session; larger events are dropped.

    The bytes count in the account returned by `held_by` for the session, and are freed when memory
    is needed.
    """

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self.held_by: Callable[[str], HeldBytes] = lambda session: HeldBytes()
        self._limit = limits.event_bytes
        self._sessions: dict[str, _Events] = {}

    def __len__(self) -> int:
        """The number of sessions with events."""
        return len(self._sessions)

    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        if (kept := self._sessions.get(session)) is None:
            kept = self._sessions[session] = _Events()
        new = [kept.add((stream, at), data) for at, data in enumerate(events, count + 1)]
        if any(new):
            kept.note(stream, note)
            kept.shrink(self._limit)
            kept.count(partial(self.held_by, session))

    async def after(self, session: str, stream: str, number: int) -> Stored:
        kept, later = self._sessions.get(session, _Events()), list[bytes]()
        if (stream, number) not in kept.events:
            raise NoSuchEvent(stream, number)
        for at in itertools.count(number + 1):
            if (data := kept.events.get((stream, at))) is None:
                break
            later.append(data)
        return Stored(later, kept.notes.get(stream, b""))

    async def forget(self, session: str) -> None:
        self._sessions.pop(session, None)


class MemorySessions:
    """A store for `Limits.sessions` sessions, each for `Limits.session_idle` seconds after use.

    Above the limit a new session replaces the idlest session, first among those never used after
    `initialize`.
    """

    def __init__(self, limits: Limits = DEFAULT, *, clock: Callable[[], float] = loop_time) -> None:
        self._limits = limits
        self._clock = clock
        self._kept: dict[str, tuple[float, Kept]] = {}
        """The last use and the record of each session, by last use; deleted sessions too."""
        self._unused: dict[str, None] = {}
        """Sessions with their first record, by last use."""

    def __len__(self) -> int:
        return sum(kept is not _GONE for _, kept in self._kept.values())

    async def put(self, session: str, record: bytes, version: int) -> bool:
        self._give_up()
        _, kept = self._kept.get(session, (0.0, Kept(0, b"")))
        if kept.version != version:
            return False
        self._use(session, Kept(version + 1, record))
        return True

    async def get(self, session: str) -> Kept | None:
        self._give_up()
        _, kept = self._kept.get(session, (0.0, _GONE))
        if kept is _GONE:
            return None
        self._use(session, kept)
        return kept

    async def delete(self, session: str) -> None:
        self._use(session, _GONE)

    def _use(self, session: str, kept: Kept) -> None:
        self._drop(session)
        self._kept[session] = self._clock(), kept
        if kept.version <= 1:
            self._unused[session] = None
        self._give_up(session)

    def _drop(self, session: str) -> None:
        self._kept.pop(session, None)
        self._unused.pop(session, None)

    def _give_up(self, newest: str = "") -> None:
        oldest = self._clock() - self._limits.session_idle
        while self._kept and next(iter(self._kept.values()))[0] <= oldest:
            self._drop(next(iter(self._kept)))
        while len(self._kept) > self._limits.sessions:
            unused = next((session for session in self._unused if session != newest), None)
            self._drop(next(iter(self._kept)) if unused is None else unused)


@dataclass(slots=True, weakref_slot=True)
class _Task:
    """A task in the dict of its owner."""

    tasks: dict[str, _Task]
    id: str
    until: float
    kept: Kept
    hold: Hold

    def forget(self) -> None:
        self.tasks.pop(self.id, None)
        self.hold.change(-self.hold.size)


class MemoryTasks:
    """A store for `Limits.tasks` tasks of each owner, whose bytes count for the owner."""

    def __init__(
        self,
        limits: Limits = DEFAULT,
        *,
        clock: Callable[[], float] = loop_time,
        process: Process = OF_PROCESS,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._process = process
        self._owners: dict[str, dict[str, _Task]] = {}
        self._ends: list[tuple[float, str, str]] = []
        """A heap of deadlines, one for each task; a task may have got a later one since."""
        self._most_ends = _SPARE

    def __len__(self) -> int:
        self._give_up()
        return sum(map(len, self._owners.values()))

    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        self._give_up()
        tasks = self._owners.get(owner, {})
        before = tasks.get(task)
        if (0 if before is None else before.kept.version) != version:
            return False
        if seconds <= 0:
            if before is not None:
                before.forget()
            return True
        size = len(record) + EVENT_OVERHEAD
        held = HeldBytes(self._process.share_of(f"principal {owner}"))
        if size > SMALL and held.make_room(self._limits, size):
            raise TooManyTasks(owner)
        until, kept = self._clock() + seconds, Kept(version + 1, record)
        # A replaced task keeps its first deadline in the heap. `_give_up` finds the later deadline
        # in the task, and pushes it then: so the heap has one entry for each task.
        if before is not None:
            before.until, before.kept = until, kept
            before.hold.change(size - before.hold.size)
            return True
        if len(tasks) >= self._limits.tasks:
            raise TooManyTasks(owner)
        self._forget_forgotten()
        heappush(self._ends, (until, owner, task))
        self._owners.setdefault(owner, tasks)[task] = _Task(
            tasks, task, until, kept, Hold(held, size)
        )
        return True

    def offer(self, owner: str, task: str) -> None:
        """Offer a finished task to be dropped when memory is needed."""
        if (one := self._owners.get(owner, {}).get(task)) is not None:
            one.hold.offer(KEPT, one.forget)

    async def get(self, owner: str, task: str) -> Kept | None:
        self._give_up()
        one = self._owners.get(owner, {}).get(task)
        return one.kept if one is not None and one.until > self._clock() else None

    async def ids(self, owner: str) -> list[str]:
        self._give_up()
        return sorted(self._owners.get(owner, ()))

    def _forget_forgotten(self) -> None:
        """Remove the deadlines of dropped tasks, once the heap has doubled."""
        if len(self._ends) < self._most_ends:
            return
        self._owners = {owner: tasks for owner, tasks in self._owners.items() if tasks}
        self._ends = [end for end in self._ends if end[2] in self._owners.get(end[1], ())]
        heapify(self._ends)
        self._most_ends = 2 * len(self._ends) + _SPARE

    def _give_up(self) -> None:
        now = self._clock()
        while self._ends and self._ends[0][0] <= now:
            _, owner, task = heappop(self._ends)
            tasks = self._owners.get(owner, {})
            if (one := tasks.get(task)) is not None:
                if one.until > now:
                    heappush(self._ends, (one.until, owner, task))
                    continue
                one.forget()
            if not tasks:
                self._owners.pop(owner, None)


class MemoryLeases:
    """Leases among the servers of one process."""

    def __init__(self, *, clock: Callable[[], float] = loop_time) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    async def hold(self, name: str, seconds: float) -> None:
        now = self._clock()
        self._until = {each: until for each, until in self._until.items() if until > now}
        self._until[name] = now + seconds

    async def is_held(self, name: str) -> bool:
        return self._until.get(name, 0.0) > self._clock()

    async def release(self, name: str) -> None:
        self._until.pop(name, None)


class MemoryBus:
    """A bus for all servers of this process, on any event loops."""

    def __init__(self) -> None:
        self._receivers: dict[object, tuple[str, Callable[[bytes], object]]] = {}

    def publish(self, topic: str, message: bytes) -> None:
        for name, receive in [*self._receivers.values()]:
            if name == topic:
                with suppress(RuntimeError):  # a loop that is closed
                    receive(message)

    @asynccontextmanager
    async def subscribed(
        self, topic: str, receive: Callable[[bytes], None]
    ) -> AsyncGenerator[None]:
        loop, key = asyncio.get_running_loop(), object()
        self._receivers[key] = topic, lambda message: loop.call_soon_threadsafe(receive, message)
        try:
            yield
        finally:
            del self._receivers[key]


class MemoryStore:
    """All stores of one process, for several servers in it, and for tests."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self.events = MemoryEvents(limits)
        self.sessions = MemorySessions(limits)
        self.tasks = MemoryTasks(limits)
        self.leases = MemoryLeases()
        self.bus = MemoryBus()

    async def __aenter__(self) -> MemoryStore:
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Keep everything: another server of this process may continue with it."""
