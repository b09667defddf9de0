"""The sessions of an application: begins them, finds them, stores them and ends idle ones.

Source: 2025-11-25 basic/transports, "Session Management".
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from mcp_runtime.server.http.cluster import Cluster, Forwarded
from mcp_runtime.server.http.request import HttpError, retry_after
from mcp_runtime.server.http.service import HttpService, new_session_id
from mcp_runtime.server.http.session import HttpSession
from mcp_runtime.server.http.session_record import SessionRecord, merged
from mcp_runtime.stores import EventStore, Kept
from mcp_runtime.stores.memory import MemoryEvents

_SWEEP_EVERY: Final = 60.0
"""Seconds between two searches for idle sessions."""
_ID_CHARS: Final = 64
"""A longer id is none of ours."""
_TRIES: Final = 8
"""How often a record is stored anew because another process was faster."""

_record: Final = msgspec.json.Decoder(SessionRecord)


class SessionTable:
    """With a store, sessions outlive this process, and those of other processes are found."""

    def __init__(self, service: HttpService, cluster: Cluster | None) -> None:
        self.open: Final[dict[str, HttpSession]] = {}
        """The sessions in this process, by id."""
        self.events: Final[EventStore] = (
            MemoryEvents(service.limits) if cluster is None else cluster.store.events
        )
        self.cluster: Final = cluster
        self._service = service
        service.count(self.open)
        self._sweeper: asyncio.TimerHandle | None = None

    # ---- the life of a session

    def new(self, principal: str) -> HttpSession:
        """A session that `find` does not know before `begin`. Raises HttpError."""
        self._service.require_room(principal)
        return self._new(new_session_id(), principal)

    async def begin(self, session: HttpSession, body: bytes) -> None:
        """`body` is the client's `initialize`."""
        if self.cluster is not None:
            session.initialize, session.lists = body, session.server.list_digests()
        self._add(session)
        await self.keep(session)

    async def find(self, id: str) -> HttpSession | None:
        """A session of this process, or one from the store. Raises HttpError."""
        if self.cluster is None or len(id) > _ID_CHARS:
            return self.open.get(id)
        kept = await self.cluster.store.sessions.get(id)
        session = self.open.get(id)
        if kept is not None:
            return self._restored(id, session, kept)
        if session is not None:
            self._remove(session)
        return None

    def _restored(self, id: str, session: HttpSession | None, kept: Kept) -> HttpSession:
        record = _record.decode(kept.record)
        if session is None:
            self._service.require_room(record.principal)
            session = self._new(id, record.principal)
            session.restore(record)
            session.is_late = True
            self._add(session)
        self._apply(session, record, kept.version)
        return session

    def _apply(self, session: HttpSession, record: SessionRecord, version: int) -> None:
        session.update(record)
        session.stored, session.version = record, version
        session.synced = asyncio.get_running_loop().time()

    async def keep(self, session: HttpSession) -> None:
        """Stores what the client's last message has changed, if there is a store.

        Raises HttpError if the session was deleted meanwhile.
        """
        cluster = self.cluster
        if cluster is None or (record := session.record()) == session.stored:
            return
        before, version, store = session.stored or record, session.version, cluster.store.sessions
        for _ in range(_TRIES):
            if await store.put(session.id, msgspec.json.encode(record), version):
                self._apply(session, record, version + 1)
                if version:
                    cluster.changed(session.id)
                return
            if (kept := await store.get(session.id)) is None:
                self._remove(session)
                raise HttpError(404, "there is no such session")
            theirs, version = _record.decode(kept.record), kept.version
            before, record = theirs, merged(before, record, theirs)
        raise HttpError(
            503, "other processes change this session all the time", headers=retry_after(1)
        )

    async def end(self, session: HttpSession) -> None:
        """Ends a session in all processes."""
        self._remove(session)
        if self.cluster is not None:
            await self.cluster.store.sessions.delete(session.id)
            self.cluster.ended(session.id)
        await self.events.forget(session.id)

    def receive(self, message: Forwarded) -> None:
        """Does what another process forwards, if the session is open here."""
        session = self.open.get(message.session)
        if session is None:
            return
        if message.ended:
            self._remove(session)
        elif message.changed:
            session.spawn(self.find(session.id))
        elif message.resumed:
            session.let_go(message.resumed)
        else:
            session.receive(message.body.encode(), forwards=False)

    def _new(self, id: str, principal: str) -> HttpSession:
        return HttpSession(self._service, id, principal, self.events, self.cluster)

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
            self._sweeper = None
        for session in [*self.open.values()]:
            await self._release(session)

    async def _release(self, session: HttpSession) -> None:
        self._remove(session)
        if self.cluster is None:
            await self.events.forget(session.id)

    def _sweep_later(self) -> None:
        if self._sweeper is None:
            wait = min(_SWEEP_EVERY, self._service.limits.session_idle / 4)
            self._sweeper = asyncio.get_running_loop().call_later(wait, self._sweep)

    def _sweep(self) -> None:
        """Closes sessions that have been idle for too long.

        The store must not give up those that have an open response and ask for nothing else.
        """
        self._sweeper = None
        now, idle = asyncio.get_running_loop().time(), self._service.limits.session_idle
        for session in [*self.open.values()]:
            if session.responses:
                if self.cluster is not None and session.synced <= now - idle / 2:
                    session.spawn(self.find(session.id))
            elif session.used <= now - idle:
                del self.open[session.id]
                session.spawn(self._release(session))
        if self.open:
            self._sweep_later()
