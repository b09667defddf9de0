"""Events of this process, the oldest given up first."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import NoSuchEvent

__all__ = ["MemoryEvents"]


@dataclass(slots=True)
class _Kept:
    """Of one session: events in the order in which they came."""

    events: deque[tuple[str, int, bytes]] = field(default_factory=deque[tuple[str, int, bytes]])
    size: int = 0
    counts: dict[str, int] = field(default_factory=dict[str, int])


class MemoryEvents:
    """Keeps `Limits.event_bytes` of each session."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._limit = limits.event_bytes
        self._sessions: dict[str, _Kept] = {}

    async def append(self, session: str, stream: str, data: bytes) -> str:
        kept = self._sessions.setdefault(session, _Kept())
        number = kept.counts[stream] = kept.counts.get(stream, 0) + 1
        kept.events.append((stream, number, data))
        kept.size += len(data)
        while kept.size > self._limit and len(kept.events) > 1:
            kept.size -= len(kept.events.popleft()[2])
        return f"{stream}.{number}"

    async def after(self, session: str, id: str) -> tuple[str, Sequence[tuple[str, bytes]]]:
        stream, _, number = id.rpartition(".")
        kept = self._sessions.get(session)
        found = [event for event in kept.events if event[0] == stream] if kept else []
        numbers = [str(event[1]) for event in found]
        if number not in numbers:
            raise NoSuchEvent(id)
        later = found[numbers.index(number) + 1 :]
        return stream, [(f"{stream}.{event[1]}", event[2]) for event in later]

    async def forget(self, session: str) -> None:
        self._sessions.pop(session, None)
