"""A session of Streamable HTTP: each POST has a stream for its answers, and one stream is general.

Source: 2025-11-25 basic/transports, "Streamable HTTP".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import count
from secrets import token_hex
from typing import Final

from msgspec.structs import replace

from mcp_runtime.auth.server.current import run_with_token, written_token
from mcp_runtime.core.events import Called, Cancelled
from mcp_runtime.core.jsonrpc import Frame, Id
from mcp_runtime.core.lifecycle import State
from mcp_runtime.core.server_session import ServerSession
from mcp_runtime.core.subscriptions import Change
from mcp_runtime.server.http.cluster import Cluster
from mcp_runtime.server.http.event_response import COME_BACK
from mcp_runtime.server.http.followed_stream import encoded, news_topic
from mcp_runtime.server.http.outbox import Outbox
from mcp_runtime.server.http.request import HttpError
from mcp_runtime.server.http.service import HttpService
from mcp_runtime.server.http.session_record import SessionRecord
from mcp_runtime.server.http.stream_note import Rerun, frames_of, is_call_of, note_of
from mcp_runtime.server.http.streaming import STANDALONE, StreamingConnection
from mcp_runtime.stores import EventStore, StoreUnavailable

_RETRY: Final = 0.5
"""Seconds until an event that nobody waits for is stored again after a failure."""
_INITIALIZED: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


class HttpSession(StreamingConnection):
    """A session of the handshake era. In a cluster other processes may serve it at the same time.

    Requests to the client and streams are numbered so that no two processes choose the same.
    """

    # Set only where a store keeps sessions; elsewhere they take no memory in each session.
    initialize = b""
    """The client's `initialize`."""
    stored: SessionRecord | None = None
    """The record that was stored last."""
    version = 0
    """The version of that record."""
    synced = 0.0
    """When the record was read or stored."""
    lists: Mapping[str, str] = {}
    """Digests of the lists that the client has heard of."""
    is_late = False
    """Whether changes may have been announced before the session was open in this process."""

    def __init__(
        self,
        service: HttpService,
        id: str,
        principal: str,
        events: EventStore,
        cluster: Cluster | None = None,
    ) -> None:
        server, first = service.server, 1 if cluster is None else cluster.first_id
        session = ServerSession(server.offer, next_id=count(first).__next__, limits=server.limits)
        session.begins_anew = False
        super().__init__(server, principal=principal, trace=service.trace, session=session)
        self.protection = service.protection
        self.id: Final = id
        self._cluster: Final = cluster
        self._events = events
        self.used = self.loop.time()
        self.responses = 0
        """How many responses are open, or wait for their answer."""
        self.streams: dict[str, Outbox] = {}
        """Those of requests."""
        self._names = count(first)
        self._by_request: dict[Id, Outbox] = {}
        self._current: Outbox | None = None

    def receive(
        self, body: bytes, *, forwards: bool = True, stream: Outbox | None = None
    ) -> Outbox:
        """Starts to work on the body of a POST; the stream of its answers. Raises HttpError.

        In a cluster it forwards what another process may wait for.
        """
        frame = self.read(body)
        if self._cluster is not None and forwards:
            self._cluster.forward(self.id, frame)
        stream = stream or Outbox(str(next(self._names)), self.server.limits, self.session.held)
        self._current = stream
        try:
            events = self.session.handle(frame, self.loop.time())
            for event in events:
                if isinstance(event, Called):
                    self._by_request[event.id] = stream
                    stream.owed += 1
            self.handle(events)
        finally:
            self._current = None
        if stream.owed:
            self.streams[stream.name] = stream
            if self._cluster is not None:
                owed = tuple(id for id, to in self._by_request.items() if to is stream)
                stream.note = note_of(owed)
                if self.server.reruns:
                    stream.rerun = self._rerun(frame, body, owed, self._cluster.number)
        else:
            stream.finish()
        return stream

    def _write(self, data: bytes, about: Id | None) -> None:
        stream = self._current if about is None else self._by_request.get(about)
        (stream or self.stream).put(data)

    def _on_cancelled(self, event: Cancelled) -> None:
        stream = self._by_request.get(event.id)
        super()._on_cancelled(event)
        if self._cluster is not None and stream is not None:
            stream.rerun = None  # a batch is run again whole or not at all
            if stream.stored:
                self.spawn(self._store(stream, b""))  # and its note with it

    def _on_served(self, id: Id) -> None:
        super()._on_served(id)
        self._release(id)

    def _drop(self, id: Id) -> bool:
        was_running = super()._drop(id)
        self._release(id)
        return was_running

    def _release(self, id: Id) -> None:
        """Finishes a stream when the last of its requests is answered."""
        stream = self._by_request.pop(id, None)
        if stream is not None:
            stream.owed -= 1
            if not stream.owed:
                stream.finish()

    async def drain(self) -> None:
        for stream in {*self._by_request.values()}:
            await stream.drain()

    def interrupt(self, id: Id, retry: int) -> None:
        if stream := self._by_request.get(id):
            stream.interrupt(retry)

    @property
    def primes(self) -> bool:
        """Whether a stream begins with an event without data, so that it can be resumed."""
        agreed = self.session.agreed
        return agreed is not None and agreed.translation.revision.primed_streams

    def hold_open(self) -> None:
        """Keeps the session from being idle, until `release_hold`: it has an open response."""
        self.responses += 1

    def release_hold(self) -> None:
        self.responses -= 1
        self.used = self.loop.time()

    def begin_standalone(self) -> Outbox:
        """The stream of a GET; in a cluster each has a name, for any process may go on with it."""
        if self._cluster is not None:
            self.stream.resume(f"{STANDALONE}-{next(self._names)}", 0, ())
        return self.stream

    def catch_up(self) -> None:
        """Announces what has changed while the session was not open here, as far as that is known.

        A list is compared with the one that the client heard of; a resource may have changed.
        """
        if self.is_late:
            self.is_late = False
            for uri in sorted(self.server_session.subscriptions.watched):
                self.notify_change(Change(uri=uri))
            before, self.lists = self.lists, self.server.list_digests()
            for list_ in self.lists:
                if before.get(list_) != self.lists[list_]:
                    self.notify_change(Change(list=list_))

    def stream_of(self, name: str) -> Outbox:
        """The stream of that name; a finished one if the session has it no more."""
        if name.startswith(STANDALONE):
            return self.stream
        if name not in self.streams:
            finished = Outbox(name, self.server.limits)
            finished.finish()
            return finished
        return self.streams[name]

    def forget(self, stream: Outbox) -> None:
        """Drops a stream that was sent to its end."""
        self.streams.pop(stream.name, None)

    # ---- resumption

    async def events(self, stream: Outbox, messages: Sequence[bytes]) -> bytes:
        """The events for messages, stored under their ids unless the session has ended."""
        if self.session.state is State.CLOSED:
            return await super().events(stream, messages)
        try:
            async with stream.storing:
                name, count = stream.name, stream.stored
                note = b"" if stream.is_over else self._note(stream)
                await self._events.append(self.id, name, count, messages, note)
                stream.stored += len(messages)
        except BaseException:
            stream.put_back(messages)
            raise
        self.used = self.loop.time()
        return encoded(name, count, messages)

    def response_ended(self, stream: Outbox) -> None:
        """Stores what is still to come on the stream, until the client resumes it."""
        self.release_hold()
        if stream.is_over:
            self.forget(stream)
        elif not stream.reader and stream is not self.stream:
            self.spawn(self._store_rest(stream, stream.attach()))

    def let_go(self, name: str) -> None:
        """Another process sends that stream on from now on, from the store."""
        if name in self.streams:
            stream = self.streams[name]
            self.spawn(self._store_rest(stream, stream.attach()))

    async def _store_rest(self, stream: Outbox, reader: int) -> None:
        while stream.reader == reader and not stream.is_over:
            stream.retry = None  # no response is open that could be interrupted
            if (data := await stream.next(reader)) is not None:
                await self._store(stream, data)
        if stream.is_over:
            self.forget(stream)

    async def _store(self, stream: Outbox, data: bytes) -> None:
        try:
            await self.events(stream, [data])
        except StoreUnavailable:
            await asyncio.sleep(_RETRY)
        if self._cluster is not None:
            self._cluster.store.bus.publish(news_topic(self.id, stream.name), b"")

    def close(self) -> None:
        self.disconnect("the session has ended")
        for stream in [self.stream, *self.streams.values()]:
            stream.finish()

    def stop_listening(self) -> None:
        if self.primes and not self.stream.has_news:
            self.stream.interrupt(COME_BACK)
        self.stream.finish()

    # ---- requests that may be run again

    def _rerun(self, frame: Frame, body: bytes, owed: tuple[Id, ...], process: int) -> Rerun | None:
        """What another process needs to run these requests again; None if it may not."""
        frames = frames_of(frame)
        if len(body) > self.server.limits.rerun_bytes or len(owed) < len(frames):
            return None
        if not all(is_call_of(each, self.server.reruns) for each in frames):
            return None
        return Rerun(owed, body.decode(), process, written_token())

    def _note(self, stream: Outbox) -> bytes:
        """The note of a stream that is not over yet."""
        if (rerun := stream.rerun) is None:
            return stream.note
        running, before = self.session.running, dict(zip(rerun.owed, rerun.progress, strict=False))
        progress = [running[id].progress if id in running else before.get(id) for id in rerun.owed]
        stream.rerun = replace(rerun, progress=tuple(progress))
        return stream.rerun.written

    def take_over(self, name: str, note: Rerun, last: int) -> bool:
        """Runs the requests of a stream again unless another process is faster.

        `last` is the number of its last event. Returns whether they may be run here.
        """
        cluster, tools = self._cluster, self.server.reruns
        if cluster is None or note.count >= self.server.limits.reruns:
            return False
        try:
            frame = run_with_token(note.token, lambda: self.read(note.body.encode()))
        except HttpError:  # the token no longer allows a call of the tool
            return False
        if not all(is_call_of(each, tools) for each in frames_of(frame)):
            return False
        claim = replace(note, process=cluster.number, count=note.count + 1, claim=token_hex(8))
        self.spawn(self._claim(name, claim, last))
        return True

    def fail_running(self) -> None:
        for stream in {*self._by_request.values()}:
            if stream.rerun is not None and stream.rerun.count < self.server.limits.reruns:
                self._leave(stream, stream.rerun)
        super().fail_running()

    def _leave(self, stream: Outbox, note: Rerun) -> None:
        """Cancels requests, and has the client come back to the process that runs them again."""
        if stream.stored:
            for id in note.owed:
                super()._drop(id)
                self.session.running.pop(id, None)
            stream.interrupt(COME_BACK)

    async def _claim(self, name: str, note: Rerun, last: int) -> None:
        """Stores an event without data, which one process alone can store under its number."""
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
        )

    def restore(self, record: SessionRecord) -> None:
        """Begins a session that was just made as the recorded one was begun."""
        self.initialize = record.begun.encode()
        self.receive(self.initialize, forwards=False)

    def update(self, record: SessionRecord) -> None:
        """Applies what the client has told other processes since."""
        session = self.server_session
        if record.is_open and session.state is State.AGREED:
            self.receive(_INITIALIZED, forwards=False)
        session.log_level, self.lists = record.log_level, record.lists
        session.subscriptions.watched = set(record.watched)
