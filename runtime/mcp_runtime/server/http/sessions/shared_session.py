"""A session of Streamable HTTP served by several processes, which continue each other's work.

Source: 2025-11-25 basic/transports, "Resumability and Redelivery".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex
from typing import Final

from msgspec.structs import replace

from mcp_runtime.auth.server.current import run_with_token, written_token
from mcp_runtime.core.session.events import Cancelled
from mcp_runtime.core.session.held import Share
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.core.session.subscriptions import Change
from mcp_runtime.core.terms.log_levels import LEVELS
from mcp_runtime.core.wire.jsonrpc import Frame, Id
from mcp_runtime.server.http.asgi.event_response import COME_BACK
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import HttpError
from mcp_runtime.server.http.asgi.service import HttpService
from mcp_runtime.server.http.asgi.stream_note import Rerun, frames_of, is_call_of, note_of
from mcp_runtime.server.http.asgi.streaming import STANDALONE
from mcp_runtime.server.http.cluster.cluster import Cluster
from mcp_runtime.server.http.cluster.followed_stream import news_topic
from mcp_runtime.server.http.cluster.session_record import SessionRecord
from mcp_runtime.server.http.sessions.http_session import HttpSession
from mcp_runtime.server.rules import Rules, Switch
from mcp_runtime.stores import StoreUnavailable

_RETRY: Final = 0.5
"""Seconds until an event without a waiting reader is stored again after a failure."""
_INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class SharedSession(HttpSession):
    """A session other processes of a cluster may serve at the same time.

    Requests to the client and streams are numbered so no two processes choose the same.
    """

    initialize = b""
    """The client's `initialize`."""
    stored: SessionRecord | None = None
    """The record that was stored last."""
    version = 0
    """The version of that record."""
    synced = 0.0
    """The time when the record was last read or stored."""
    lists: Mapping[str, str] = {}
    """Digests of the lists the client has heard of."""
    is_late = False
    """True if changes may have been announced before the session was open in this process."""

    def __init__(
        self,
        service: HttpService,
        id: str,
        principal: str,
        share: Share | None,
        cluster: Cluster,
        store_record: Callable[[SharedSession], Awaitable[None]],
    ) -> None:
        super().__init__(service, id, principal, share, cluster.store.events, cluster.first_id)
        self._cluster: Final = cluster
        self._store_record: Final = store_record

    @property
    def can_leave(self) -> bool:
        """True if another process could continue everything that is open or waits here."""
        return super().can_leave and not self.stream.has_news

    def receive(
        self, body: bytes, *, forwards: bool = True, stream: Outbox | None = None
    ) -> Outbox:
        """Start to work on a body, and forward messages another process may wait for."""
        frame = self.read(body)
        if forwards:
            self._cluster.forward(self.id, frame)
        stream = self._answer_on(stream or self._new_stream(), frame)
        if stream.owed:
            owed = tuple(id for id, to in self._by_request.items() if to is stream)
            stream.note = note_of(owed)
            if self.server.reruns:
                stream.rerun = self._rerun(frame, body, owed)
        return stream

    def _on_cancel(self, event: Cancelled) -> None:
        stream = self._by_request.get(event.id)
        super()._on_cancel(event)
        if stream is not None:
            stream.rerun = None  # a batch is run again whole or not at all
            if stream.stored:
                self.spawn(self._store(stream, b""))  # and its note with it

    def begin_standalone(self) -> Outbox:
        """Return the stream of a GET, under a new name: any process may go on with it."""
        self.stream.resume(f"{STANDALONE}-{next(self._names)}", 0, ())
        return self.stream

    def catch_up(self) -> None:
        """Announce the known changes made while the session was not open here.

        A list is compared with the list the client heard of; a resource may have changed.
        """
        if self.is_late:
            self.is_late = False
            for uri in sorted(self.server_session.subscriptions.watched):
                self.notify_change(Change(uri=uri))
            before, self.lists = self.lists, self.server.list_digests()
            for list_ in self.lists:
                if before.get(list_) != self.lists[list_]:
                    self.notify_change(Change(list=list_))

    # ---- resumption

    def let_go(self, name: str) -> None:
        """Leave the stream to another process, which sends it on from the store."""
        if name in self.streams:
            stream = self.streams[name]
            self.spawn(self._store_rest(stream, stream.attach()))

    async def _store(self, stream: Outbox, data: bytes) -> None:
        try:
            await super()._store(stream, data)
        except StoreUnavailable:
            await asyncio.sleep(_RETRY)
        self._cluster.store.bus.publish(news_topic(self.id, stream.name), b"")

    # ---- requests that may be run again

    def _rerun(self, frame: Frame, body: bytes, owed: tuple[Id, ...]) -> Rerun | None:
        """Return the note another process needs to run these requests again; None if it may not."""
        frames = frames_of(frame)
        if len(body) > self.server.limits.rerun_bytes or len(owed) < len(frames):
            return None
        if not all(is_call_of(each, self.server.reruns) for each in frames):
            return None
        return Rerun(owed, body.decode(), self._cluster.number, written_token())

    def _note(self, stream: Outbox) -> bytes:
        if stream.is_over:
            return b""
        if (rerun := stream.rerun) is None:
            return stream.note
        running, before = self.session.running, dict(zip(rerun.owed, rerun.progress, strict=False))
        progress = [running[id].progress if id in running else before.get(id) for id in rerun.owed]
        stream.rerun = replace(rerun, progress=tuple(progress))
        return stream.rerun.written

    def take_over(self, name: str, note: Rerun, last: int) -> bool:
        """Begin to run the requests of a stream again, unless another process is faster.

        `last` is the number of its last event. Return False if they may not be run again here.
        """
        tools = self.server.reruns
        if note.count >= self.server.limits.reruns:
            return False
        try:
            frame = run_with_token(note.token, lambda: self.read(note.body.encode()))
        except HttpError:  # the token no longer allows a call of the tool
            return False
        if not all(is_call_of(each, tools) for each in frames_of(frame)):
            return False
        claim = replace(
            note, process=self._cluster.number, count=note.count + 1, claim=token_hex(8)
        )
        self.spawn(self._claim(name, claim, last))
        return True

    def fail_running(self) -> None:
        for stream in {*self._by_request.values()}:
            if stream.rerun is not None and stream.rerun.count < self.server.limits.reruns:
                self._leave(stream, stream.rerun)
        super().fail_running()

    def _leave(self, stream: Outbox, note: Rerun) -> None:
        """Cancel the stream's requests, and tell the client to reconnect: another process runs them
        again.
        """
        if stream.stored:
            for id in note.owed:
                super(HttpSession, self)._drop(id)  # the stream does not end with it
                if id in self.session.running:
                    self.session.release(id)
            stream.interrupt(COME_BACK)

    async def _claim(self, name: str, note: Rerun, last: int) -> None:
        """Store an event without data under the next number, which only one process can do; the
        process that succeeds runs the requests again.
        """
        stored = None
        while stored is None and self.session.state is not State.CLOSED:
            try:
                await self._events.append(self.id, name, last, [b""], note.written)
                stored = await self._events.after(self.id, name, last + 1)
            except StoreUnavailable:
                await asyncio.sleep(_RETRY)
        if stored is not None and stored.note == note.written:
            await self._run_again(name, note, last + 1)

    async def _run_again(self, name: str, note: Rerun, last: int) -> None:
        stream = Outbox(name, self.server.limits, self.session.held, stored=last)
        body = note.body.encode()
        run_with_token(note.token, lambda: self.receive(body, forwards=False, stream=stream))
        stream.rerun = note
        for id, progress in zip(note.owed, note.progress, strict=False):
            if progress is not None and id in self.session.running:
                self.session.running[id].progress = progress
        self.hold_open()
        try:
            await self._store_rest(stream, stream.attach())
        finally:
            self.release_hold()

    # ---- what a store keeps

    def record(self) -> SessionRecord:
        session = self.server_session
        return SessionRecord(
            self.principal,
            self.initialize.decode(),
            session.state is State.OPEN,
            session.log_level,
            tuple(sorted(session.subscriptions.watched)),
            self.lists,
            tuple(self.rules),
        )

    def restore(self, record: SessionRecord) -> None:
        """Open a new session as the recorded session was opened."""
        self.initialize = record.begun.encode()
        self.receive(self.initialize, forwards=False)

    def update(self, record: SessionRecord) -> None:
        """Apply the changes made by messages the client has since sent to other processes."""
        session = self.server_session
        if record.is_open and session.state is State.AGREED:
            self.receive(_INITIALIZED, forwards=False)
        session.log_level = record.log_level if record.log_level in LEVELS else None
        self.lists = record.lists
        session.subscriptions.watch_only(record.watched)
        if tuple(self.rules) != record.rules:
            self.change_rules(Rules(record.rules))

    async def switch(self, switch: Switch) -> None:
        """Store the rules too, before the request to change them is answered."""
        await super().switch(switch)
        await self._store_record(self)
