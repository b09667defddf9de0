"""Events of this process, the oldest given up first."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.stores import NoSuchEvent

__all__ = ["MemoryEvents"]

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
