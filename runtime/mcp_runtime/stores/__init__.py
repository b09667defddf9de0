"""What outlives a request: narrow protocols, so that one process or many can keep it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["EventStore", "NoSuchEvent"]


class NoSuchEvent(Exception):
    """An event that was never stored, or is kept no more."""


class EventStore(Protocol):
    """The events of streams, so that a stream can be resumed. A session has its streams alone."""

    async def append(self, session: str, stream: str, data: bytes) -> str:
        """The event's id, unique in the session: visible ASCII characters."""
        ...

    async def after(self, session: str, id: str) -> tuple[str, Sequence[tuple[str, bytes]]]:
        """The stream of an event, and what came after it there, with ids. Raises NoSuchEvent."""
        ...

    async def forget(self, session: str) -> None:
        """Nothing of that session is needed any more."""
        ...
