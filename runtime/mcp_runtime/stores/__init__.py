"""What outlives a request: narrow protocols, so that one process or many can keep it.

`mcp_runtime.stores.memory` has what one process needs. Where several serve the same clients, each
is given the same `EventStore` and `SessionStore` (`Server.asgi`), the same `Bus` and the same keys
or `StateSealer` (`Server`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from mcp_runtime.core.request_state import StateSealer

__all__ = ["Bus", "EventStore", "NoSuchEvent", "SessionStore", "StateSealer"]


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


class SessionStore(Protocol):
    """What was agreed in sessions, so that a process can go on with one that another has begun.

    It gives up sessions that nobody has put or got for long.
    """

    async def put(self, session: str, record: bytes) -> None:
        """Keeps it, in the place of what was kept of that session."""
        ...

    async def get(self, session: str) -> bytes | None:
        """What was put last; None where nothing is kept."""
        ...

    async def forget(self, session: str) -> None:
        """The session has ended."""
        ...


class Bus(Protocol):
    """Brings what one process tells to all of them."""

    def publish(self, message: bytes) -> None:
        """Never waits, never raises; what cannot be sent may be lost."""
        ...

    def subscribed(self, take: Callable[[bytes], None]) -> AbstractAsyncContextManager[object]:
        """While it is entered, `take` gets each message, on the running loop, one's own too."""
        ...
