"""The sessions of the handshake era that an application serves: begun, kept, found and given up.

Source: 2025-11-25 basic/transports, "Session Management".
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sized
from typing import TYPE_CHECKING, Final

import msgspec

from mcp_runtime.server.http.request import Denied
from mcp_runtime.server.http.session_record import SessionRecord
from mcp_runtime.server.http.sessions import HttpSession
from mcp_runtime.stores import EventStore, SessionStore
from mcp_runtime.stores.memory import MemoryEvents

if TYPE_CHECKING:
    from mcp_runtime.server.server import Server
    from mcp_runtime.shared.connection import Trace

__all__ = ["SessionTable", "new_id", "retry_after"]

_SWEEP: Final = 60.0
_MAX_ID: Final = 64
"""Characters of an id that may be one of ours."""
_NUMBERS: Final = 20
"""Bits: how many numbers each process has for a session that it has not begun."""
_PROCESSES: Final = 32
"""Bits: of how many such processes no two meet; together they are exact in JSON."""


class SessionTable:
    """With a store, sessions that other processes have begun are found too, and outlive this one.

    `others` are connections that count as sessions.
    """

    def __init__(
        self,
        server: Server,
        *,
        events: EventStore | None,
        store: SessionStore | None,
        others: Sized,
        trace: Trace | None,
    ) -> None:
        self.open: Final[dict[str, HttpSession]] = {}
        """Those that live here, by id."""
        self.events: Final[EventStore] = MemoryEvents(server.limits) if events is None else events
        self._server = server
        self._limits = server.limits
        self._store = store
        self._others = others
        self._trace = trace
        self._sweeper: asyncio.TimerHandle | None = None

    def require_room(self) -> None:
        """Raises Denied."""
        if len(self.open) + len(self._others) >= self._limits.sessions:
            why = f"{self._limits.sessions} sessions are open (Limits.sessions)"
            raise Denied(503, why, headers=retry_after(60))

    # ---- the life of a session

    def new(self, principal: str) -> HttpSession:
        """One that nobody finds before it was begun. Raises Denied."""
        self.require_room()
        return self._new(new_id(), principal, 1)

    async def begin(self, session: HttpSession, body: bytes) -> None:
        """`body` is what began it."""
        if self._store is not None:
            session.begun = body
        self._hold(session)
        await self.keep(session)

    async def find(self, id: str) -> HttpSession | None:
        """A session that lives here, or that another process has begun. Raises Denied."""
        if self._store is None or len(id) > _MAX_ID:
            return self.open.get(id)
        kept = await self._store.get(id)
        session = self.open.get(id)
        if kept is not None:
            return self._recalled(id, session, msgspec.json.decode(kept, type=SessionRecord))
        if session is not None:
            self._let_go(session)
        return None

    def _recalled(self, id: str, session: HttpSession | None, record: SessionRecord) -> HttpSession:
        if session is None:
            self.require_room()
            session = self._new(id, record.principal, secrets.randbits(_PROCESSES) << _NUMBERS)
            record.revive(session)
            self._hold(session)
        record.amend(session)
        session.kept = record
        return session

    async def keep(self, session: HttpSession) -> None:
        """What its client has just said may have to last."""
        if self._store is not None and (record := SessionRecord.of(session)) != session.kept:
            await self._store.put(session.id, msgspec.json.encode(record))
            session.kept = record

    async def end(self, session: HttpSession) -> None:
        """Here and everywhere."""
        self._let_go(session)
        await self.events.forget(session.id)
        if self._store is not None:
            await self._store.forget(session.id)

    def _new(self, id: str, principal: str, first: int) -> HttpSession:
        return HttpSession(
            self._server, id, principal, events=self.events, first=first, trace=self._trace
        )

    def _hold(self, session: HttpSession) -> None:
        self.open[session.id] = session
        self._server.connections.add(session)
        self._sweep_later()

    def _let_go(self, session: HttpSession) -> None:
        self.open.pop(session.id, None)
        session.close()

    # ---- those that are not used, and the end

    async def leave(self) -> None:
        """This process ends; so do sessions that no other can go on with."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for session in [*self.open.values()]:
            await self._give_up(session)

    async def _give_up(self, session: HttpSession) -> None:
        self._let_go(session)
        if self._store is None:
            await self.events.forget(session.id)

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            wait = min(_SWEEP, self._limits.session_idle)
            self._sweeper = asyncio.get_running_loop().call_later(wait, self._sweep)

    def _sweep(self) -> None:
        """Gives up sessions that were not used for long."""
        self._sweeper = None
        oldest = asyncio.get_running_loop().time() - self._limits.session_idle
        for session in [*self.open.values()]:
            if session.used <= oldest and not session.responses:
                del self.open[session.id]
                session.spawn(self._give_up(session))
        if self.open:
            self._sweep_later()


def new_id() -> str:
    """Of a session; nobody can guess it."""
    return secrets.token_urlsafe(32)


def retry_after(seconds: int) -> tuple[tuple[bytes, bytes], ...]:
    return ((b"retry-after", str(seconds).encode()),)
