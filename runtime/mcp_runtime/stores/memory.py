"""Stores in the memory of one process; the oldest entries are given up first."""

from __future__ import annotations

import asyncio
import itertools
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, TypeAlias

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import DELETED, EVENT_OVERHEAD, Kept, NoSuchEvent, Stored, TooManyTasks

_GONE: Final = Kept(DELETED, b"")


def loop_time() -> float:
    """Seconds on the clock of the event loop that runs here."""
    return asyncio.get_running_loop().time()


_Place: TypeAlias = tuple[str, int]
"""A stream, and the number of an event there."""


@dataclass(slots=True)
class _Events:
    """The events of one session, in the order in which they came."""

    events: OrderedDict[_Place, bytes] = field(default_factory=OrderedDict[_Place, bytes])
    notes: dict[str, bytes] = field(default_factory=dict[str, bytes])
    size: int = 0

    def add(self, place: _Place, data: bytes) -> bool:
        """Whether it is new."""
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
        while self.size > size and len(self.events) > 1:
            _, data = self.events.popitem(last=False)
            self.size -= len(data) + EVENT_OVERHEAD


class MemoryEvents:
    """Keeps `Limits.event_bytes` of each session."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._limit = limits.event_bytes
        self._sessions: dict[str, _Events] = {}

    def __len__(self) -> int:
        """How many sessions have events here."""
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
    """Keeps `Limits.sessions`, each for `Limits.session_idle` seconds after its last use.

    A new one takes the place of the one that was idle for longest, of one that was never used after
    its `initialize` first.
    """

    def __init__(self, limits: Limits = DEFAULT, *, clock: Callable[[], float] = loop_time) -> None:
        self._limits = limits
        self._clock = clock
        self._kept: dict[str, tuple[float, Kept]] = {}
        """When each was used, in this order; deleted ones too."""
        self._unused: dict[str, None] = {}
        """Those whose first record is still the last, in the order in which they were put."""

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


class MemoryTasks:
    """Keeps `Limits.tasks` of each owner."""

    def __init__(self, limits: Limits = DEFAULT, *, clock: Callable[[], float] = loop_time) -> None:
        self._most = limits.tasks
        self._clock = clock
        self._owners: dict[str, dict[str, tuple[float, Kept]]] = {}
        """Until when each is kept."""
        self._ends: list[tuple[float, str, str]] = []
        """A heap of the times at which a task may be over, one for each task."""

    def __len__(self) -> int:
        self._give_up()
        return len(self._ends)

    async def put(self, owner: str, task: str, record: bytes, version: int, seconds: float) -> bool:
        self._give_up()
        tasks = self._owners.get(owner, {})
        _, kept = tasks.get(task, (0.0, Kept(0, b"")))
        if kept.version != version:
            return False
        until = self._clock() + seconds
        if version == 0:
            if len(tasks) >= self._most:
                raise TooManyTasks(owner)
            heappush(self._ends, (until, owner, task))
        self._owners.setdefault(owner, tasks)[task] = until, Kept(version + 1, record)
        return True

    async def get(self, owner: str, task: str) -> Kept | None:
        self._give_up()
        until, kept = self._owners.get(owner, {}).get(task, (0.0, None))
        return kept if until > self._clock() else None

    async def ids(self, owner: str) -> list[str]:
        self._give_up()
        return sorted(self._owners.get(owner, ()))

    def _give_up(self) -> None:
        now = self._clock()
        while self._ends and self._ends[0][0] <= now:
            _, owner, task = heappop(self._ends)
            tasks = self._owners[owner]
            if (until := tasks[task][0]) > now:
                heappush(self._ends, (until, owner, task))
                continue
            del tasks[task]
            if not tasks:
                del self._owners[owner]


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
    """Brings messages to all servers of this process, whatever loops they run on."""

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
        """Keeps everything: another server of this process may go on with it."""
