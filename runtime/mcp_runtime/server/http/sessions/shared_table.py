"""Sessions that outlive their process: a store keeps them, and other processes go on with them.

Source: 2025-11-25 basic/transports, "Session Management".
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec

from mcp_runtime.core.session.held import Share
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.server.http.asgi.request import HttpError, retry_after
from mcp_runtime.server.http.asgi.service import HttpService
from mcp_runtime.server.http.cluster.cluster import Cluster, Forwarded, owner
from mcp_runtime.server.http.cluster.followed_stream import FollowedStream
from mcp_runtime.server.http.cluster.session_record import SessionRecord, merge
from mcp_runtime.server.http.sessions.session_table import SessionTable
from mcp_runtime.server.http.sessions.shared_session import SharedSession

log: Final = logging.getLogger("mcp_runtime.http")

_ID_CHARS: Final = 64
"""A longer id is not one of ours."""
_TRIES: Final = 8
"""How often a record is stored anew because another process was faster."""

_record: Final = msgspec.json.Decoder(SessionRecord)


class SharedTable(SessionTable[SharedSession]):
    """The sessions of all processes on the store of a cluster."""

    is_shared = True

    def __init__(self, service: HttpService, cluster: Cluster) -> None:
        make = partial(SharedSession, service, cluster=cluster, store_record=self.keep)
        super().__init__(service, cluster.store.events, make)
        self._cluster: Final = cluster

    async def begin(self, session: SharedSession, body: bytes) -> None:
        session.initialize, session.lists = body, session.server.list_digests()
        self._add(session)
        await self.keep(session)

    async def find(self, id: str, share: Share | None = None) -> SharedSession | None:
        """A session of this process, or one from the store. Raises HttpError."""
        if len(id) > _ID_CHARS:
            return None
        kept = await self._read_record(id)
        session = self.open.get(id)
        if kept is not None:
            return self._rebuild(id, session, share, *kept)
        if session is not None:
            self._remove(session)
        return None

    async def _read_record(self, id: str) -> tuple[SessionRecord, int] | None:
        """Return the record of a session and its version. A record nobody can read is lost."""
        if (kept := await self._cluster.store.sessions.get(id)) is None:
            return None
        try:
            return _record.decode(kept.record), kept.version
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("a session is lost: its record in the store cannot be read: %s", error)
            return None

    def _rebuild(
        self,
        id: str,
        session: SharedSession | None,
        share: Share | None,
        record: SessionRecord,
        version: int,
    ) -> SharedSession:
        if session is None:
            self.make_room(record.principal, share)
            session = self._make(id, record.principal, share)
            self._restore(session, record)
            session.is_late = True
            self._add(session)
        self._apply(session, record, version)
        return session

    def _restore(self, session: SharedSession, record: SessionRecord) -> None:
        """Open a session from its record. Raises HttpError 404 if the record opens none."""
        with suppress(HttpError):
            session.restore(record)
        if session.session.state is State.NEW:
            log.warning("a session is lost: its record in the store has no `initialize`")
            raise HttpError(404, "there is no such session")

    def _give_up(self, session: SharedSession) -> None:
        """Close the session here; the store keeps it."""
        self._remove(session)

    def _apply(self, session: SharedSession, record: SessionRecord, version: int) -> None:
        session.update(record)
        session.stored, session.version = record, version
        session.synced = asyncio.get_running_loop().time()

    async def keep(self, session: SharedSession) -> None:
        """Store the session. Raise HttpError if it was deleted meanwhile."""
        if (record := session.record()) == session.stored:
            return
        before, version = session.stored or record, session.version
        store = self._cluster.store.sessions
        for _ in range(_TRIES):
            if await store.put(session.id, msgspec.json.encode(record), version):
                self._apply(session, record, version + 1)
                if version:
                    self._cluster.changed(session.id)
                return
            if (kept := await self._read_record(session.id)) is None:
                self._remove(session)
                raise HttpError(404, "there is no such session")
            theirs, version = kept
            before, record = theirs, merge(before, record, theirs)
        raise HttpError(503, "other processes keep changing this session", headers=retry_after(1))

    async def catch_up(self, session: SharedSession) -> None:
        session.catch_up()
        await self.keep(session)

    def follow(self, session: SharedSession, name: str, last: int) -> FollowedStream | None:
        process, limits = owner(name), self._service.limits
        if process is None or name in session.streams:
            return None
        take_over, held = session.take_over, session.session.held
        cluster = self._cluster
        return FollowedStream(cluster, limits, session.id, name, process, last, take_over, held)

    async def end(self, session: SharedSession) -> None:
        """End a session in all processes."""
        self._remove(session)
        await self._cluster.store.sessions.delete(session.id)
        self._cluster.ended(session.id)
        await self.events.forget(session.id)

    async def _release(self, session: SharedSession) -> None:
        """Close the session here on shutdown; other processes continue it."""
        self._remove(session)

    def receive(self, message: Forwarded) -> None:
        """Handle a message forwarded by another process, if the session is open here."""
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

    def _sweep(self) -> None:
        """Close idle sessions. Renew those with only an open response, or the store would drop
        them.
        """
        half = asyncio.get_running_loop().time() - self._service.limits.session_idle / 2
        for session in [*self.open.values()]:
            if session.responses and session.synced <= half:
                session.spawn(self.find(session.id))
        super()._sweep()
