"""The sessions of an application: begins them, finds them and ends idle ones.

Source: 2025-11-25 basic/transports, "Session Management".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, Generic, TypeVar

from mcp_runtime.server.http.followed_stream import FollowedStream
from mcp_runtime.server.http.service import HttpService, new_session_id
from mcp_runtime.server.http.session import HttpSession
from mcp_runtime.stores import EventStore
from mcp_runtime.stores.memory import MemoryEvents

_S = TypeVar("_S", bound=HttpSession)

_SWEEP_EVERY: Final = 60.0
"""Seconds between two searches for idle sessions."""


class SessionTable(Generic[_S]):
    """The sessions that `make` makes of an id and a principal; they end with this process."""

    is_shared = False
    """Whether other processes have these sessions too."""

    def __init__(
        self, service: HttpService, events: EventStore, make: Callable[[str, str], _S]
    ) -> None:
        self.open: Final[dict[str, _S]] = {}
        """The sessions in this process, by id."""
        self.events: Final = events
        self._service = service
        self._make = make
        service.count(self.open)
        self._sweeper: asyncio.TimerHandle | None = None

    def new(self, principal: str) -> _S:
        """A session that `find` does not know before `begin`. Raises HttpError."""
        self._service.require_room(principal)
        return self._make(new_session_id(), principal)

    async def begin(self, session: _S, body: bytes) -> None:
        """Makes a session known to `find`; `body` is the client's `initialize`."""
        self._add(session)

    def _add(self, session: _S) -> None:
        self.open[session.id] = session
        self._service.server.connections.add(session)
        self._sweep_later()

    async def find(self, id: str) -> _S | None:
        """The session with that id; None if there is none. Raises HttpError."""
        return self.open.get(id)

    async def end(self, session: _S) -> None:
        self._remove(session)
        await self.events.forget(session.id)

    def _remove(self, session: _S) -> None:
        self.open.pop(session.id, None)
        session.close()

    # ---- what only processes do that share a store

    async def keep(self, session: _S) -> None:
        """Stores what the client's last message has changed. Raises HttpError."""

    async def catch_up(self, session: _S) -> None:
        """Announces what has changed while the session was not open here."""

    def followed(self, session: _S, name: str, last: int) -> FollowedStream | None:
        """The stream of another process that still works on it, from the event `last` on."""
        return None

    # ---- idle sessions, and shutdown

    async def release(self) -> None:
        """On shutdown: closes all sessions here."""
        self.stop_sweeping()
        for session in [*self.open.values()]:
            await self._release(session)

    async def _release(self, session: _S) -> None:
        await self.end(session)

    def stop_sweeping(self) -> None:
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            wait = min(_SWEEP_EVERY, self._service.limits.session_idle / 4)
            self._sweeper = asyncio.get_running_loop().call_later(wait, self._sweep)

    def _sweep(self) -> None:
        """Closes sessions that have been idle for too long."""
        self._sweeper = None
        since = asyncio.get_running_loop().time() - self._service.limits.session_idle
        for session in [*self.open.values()]:
            if not session.responses and session.used <= since:
                del self.open[session.id]
                session.spawn(self._release(session))
        if self.open:
            self._sweep_later()


def own_sessions(service: HttpService) -> SessionTable[HttpSession]:
    """The sessions of a process that has no store."""
    events = MemoryEvents(service.limits)
    return SessionTable(service, events, partial(HttpSession, service, events=events))
