"""The sessions of an application: begins them, finds them, stores them and ends idle ones.

Source: 2025-11-25 basic/transports, "Session Management".
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

import msgspec

from mcp_runtime.server.http.service import HttpService, new_session_id
from mcp_runtime.server.http.session import HttpSession
from mcp_runtime.server.http.session_record import SessionRecord
from mcp_runtime.stores import EventStore, SessionStore
from mcp_runtime.stores.memory import MemoryEvents

__all__ = ["SessionTable"]

_SWEEP_EVERY: Final = 60.0
"""Seconds between two searches for idle sessions."""
_ID_CHARS: Final = 64
"""A longer id is none of ours."""
_NUMBER_BITS: Final = 20
"""How many requests and streams a process can number in a session that another has begun."""
_PROCESS_BITS: Final = 32
"""The random part of such numbers, so that no two processes choose the same ones.

Both parts together are exact in JSON."""


class SessionTable:
    """With a store, sessions outlive this process, and those of other processes are found."""

    def __init__(
        self, service: HttpService, *, events: EventStore | None, store: SessionStore | None
    ) -> None:
        self.open: Final[dict[str, HttpSession]] = {}
        """The sessions in this process, by id."""
        self.events: Final[EventStore] = MemoryEvents(service.limits) if events is None else events
        self._service = service
        self._limits = service.limits
        self._store = store
        service.count(self.open)
        self._sweeper: asyncio.TimerHandle | None = None

    # ---- the life of a session

    def new(self, principal: str) -> HttpSession:
        """A session that `find` does not know before `begin`. Raises HttpError."""
        self._service.require_room()
        return self._new(new_session_id(), principal, 1)

    async def begin(self, session: HttpSession, body: bytes) -> None:
        """`body` is the client's `initialize`."""
        if self._store is not None:
            session.initialize = body
        self._add(session)
        await self.keep(session)

    async def find(self, id: str) -> HttpSession | None:
        """A session of this process, or one from the store. Raises HttpError."""
        if self._store is None or len(id) > _ID_CHARS:
            return self.open.get(id)
        stored = await self._store.get(id)
        session = self.open.get(id)
        if stored is not None:
            return self._restored(id, session, msgspec.json.decode(stored, type=SessionRecord))
        if session is not None:
            self._remove(session)
        return None

    def _restored(self, id: str, session: HttpSession | None, record: SessionRecord) -> HttpSession:
        if session is None:
            self._service.require_room()
            first = secrets.randbits(_PROCESS_BITS) << _NUMBER_BITS
            session = self._new(id, record.principal, first)
            session.restore(record)
            self._add(session)
        session.update(record)
        session.stored = record
        return session

    async def keep(self, session: HttpSession) -> None:
        """Stores what the client's last message has changed, if there is a store."""
        if self._store is not None and (record := session.record()) != session.stored:
            await self._store.put(session.id, msgspec.json.encode(record))
            session.stored = record

    async def end(self, session: HttpSession) -> None:
        """Ends a session in all processes."""
        self._remove(session)
        await self.events.forget(session.id)
        if self._store is not None:
            await self._store.forget(session.id)

    def _new(self, id: str, principal: str, first: int) -> HttpSession:
        return HttpSession(self._service, id, principal, events=self.events, first=first)

    def _add(self, session: HttpSession) -> None:
        self.open[session.id] = session
        self._service.server.connections.add(session)
        self._sweep_later()

    def _remove(self, session: HttpSession) -> None:
        self.open.pop(session.id, None)
        session.close()

    # ---- idle sessions, and shutdown

    async def release(self) -> None:
        """On shutdown: closes all sessions here; with a store other processes go on with them."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for session in [*self.open.values()]:
            await self._release(session)

    async def _release(self, session: HttpSession) -> None:
        self._remove(session)
        if self._store is None:
            await self.events.forget(session.id)

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            wait = min(_SWEEP_EVERY, self._limits.session_idle)
            self._sweeper = asyncio.get_running_loop().call_later(wait, self._sweep)

    def _sweep(self) -> None:
        """Closes sessions that have been idle for too long."""
        self._sweeper = None
        oldest = asyncio.get_running_loop().time() - self._limits.session_idle
        for session in [*self.open.values()]:
            if session.used <= oldest and not session.responses:
                del self.open[session.id]
                session.spawn(self._release(session))
        if self.open:
            self._sweep_later()
