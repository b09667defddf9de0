"""What one process keeps: events and sessions, the oldest given up first, and a bus within it."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import NoSuchEvent

__all__ = ["MemoryBus", "MemoryEvents", "MemorySessions"]

_OVERHEAD: Final = 128
"""What an event costs beside its data."""


class _Event(NamedTuple):
    id: str
    stream: str
    data: bytes


@dataclass(slots=True)
class _Kept:
    """Of one session: events in the order in which they came, and how many there ever were."""

    events: deque[_Event] = field(default_factory=deque[_Event])
    size: int = 0
    count: int = 0


class MemoryEvents:
    """Keeps `Limits.event_bytes` of each session."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._limit = limits.event_bytes
        self._sessions: dict[str, _Kept] = {}

    def __len__(self) -> int:
        """How many sessions have events here."""
        return len(self._sessions)

    async def append(self, session: str, stream: str, data: bytes) -> str:
        kept = self._sessions.setdefault(session, _Kept())
        kept.count += 1
        event = _Event(f"{stream}.{kept.count}", stream, data)
        kept.events.append(event)
        kept.size += len(data) + _OVERHEAD
        while kept.size > self._limit and len(kept.events) > 1:
            kept.size -= len(kept.events.popleft().data) + _OVERHEAD
        return event.id

    async def after(self, session: str, id: str) -> tuple[str, Sequence[tuple[str, bytes]]]:
        kept = self._sessions.get(session)
        events = list(kept.events) if kept else []
        for place, event in enumerate(events):
            if event.id == id:
                later = (each for each in events[place + 1 :] if each.stream == event.stream)
                return event.stream, [(each.id, each.data) for each in later]
        raise NoSuchEvent(id)

    async def forget(self, session: str) -> None:
        self._sessions.pop(session, None)


class MemorySessions:
    """Keeps `Limits.sessions`, each for `Limits.session_idle` seconds after its last use."""

    def __init__(
        self, limits: Limits = DEFAULT, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._kept: dict[str, tuple[float, bytes]] = {}
        """When each was used, in this order."""

    def __len__(self) -> int:
        return len(self._kept)

    async def put(self, session: str, record: bytes) -> None:
        self._kept.pop(session, None)
        self._kept[session] = self._clock(), record
        self._give_up()

    async def get(self, session: str) -> bytes | None:
        self._give_up()
        if session not in self._kept:
            return None
        _, record = self._kept.pop(session)
        self._kept[session] = self._clock(), record
        return record

    async def forget(self, session: str) -> None:
        self._kept.pop(session, None)

    def _give_up(self) -> None:
        oldest = self._clock() - self._limits.session_idle
        while self._kept:
            session, (used, _) = next(iter(self._kept.items()))
            if used > oldest and len(self._kept) <= self._limits.sessions:
                return
            del self._kept[session]


class MemoryBus:
    """Brings messages to all servers of this process, whatever loops they run on."""

    def __init__(self) -> None:
        self._takers: dict[object, Callable[[bytes], object]] = {}

    def publish(self, message: bytes) -> None:
        for give in [*self._takers.values()]:
            with suppress(RuntimeError):  # a loop that is closed
                give(message)

    @asynccontextmanager
    async def subscribed(self, take: Callable[[bytes], None]) -> AsyncGenerator[None]:
        loop, key = asyncio.get_running_loop(), object()
        self._takers[key] = lambda message: loop.call_soon_threadsafe(take, message)
        try:
            yield
        finally:
            del self._takers[key]
