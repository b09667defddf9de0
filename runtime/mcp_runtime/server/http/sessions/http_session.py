"""A session of Streamable HTTP: each POST has a stream for its answers, and one stream is general.

Source: 2025-11-25 basic/transports, "Streamable HTTP".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Final

import msgspec

from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.held import SESSION_BYTES, HeldBytes, Share
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.wire import jsonrpc
from mcp_runtime.core.wire.jsonrpc import Frame, Id
from mcp_runtime.server.http.asgi.event_response import COME_BACK
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.service import HttpService
from mcp_runtime.server.http.asgi.streaming import STANDALONE, StreamingConnection
from mcp_runtime.server.http.cluster.followed_stream import encode_events
from mcp_runtime.stores import EventStore


class HttpSession(StreamingConnection):
    """A session of the handshake era; its requests and streams are numbered from `first` on."""

    def __init__(
        self,
        service: HttpService,
        id: str,
        principal: str,
        share: Share | None,
        events: EventStore,
        first: int = 1,
    ) -> None:
        server, held = service.server, HeldBytes(share)
        next_id = count(first).__next__
        session = ServerSession(server.offer, next_id=next_id, limits=server.limits, held=held)
        session.begins_anew = False
        super().__init__(server, principal=principal, trace=service.trace, session=session)
        self.protection = service.protection
        self.id: Final = id
        self._events = events
        held.change(SESSION_BYTES)
        self.uses = 0
        """How many messages came after `initialize`."""
        self.used = self.loop.time()
        self.responses = 0
        """How many responses are open, or wait for their answer."""
        self.streams: dict[str, Outbox] = {}
        """Those of requests."""
        self._names = count(first)
        self._by_request: dict[Id, Outbox] = {}
        self._current: Outbox | None = None

    @property
    def session_id(self) -> str:
        return self.id

    def receive(self, body: bytes) -> Outbox:
        """Start to work on a POST's body; return the stream of its answers. Raises HttpError."""
        frame = self.read(body)
        return self._answer_on(self._new_stream(), frame)

    def _new_stream(self) -> Outbox:
        return Outbox(str(next(self._names)), self.server.limits, self.session.held)

    def _answer_on(self, stream: Outbox, frame: Frame) -> Outbox:
        """Handle the messages in `frame`; their answers go to `stream`. Return the stream."""
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
        else:
            stream.finish()
        return stream

    def _write(self, data: bytes, about: Id | None) -> None:
        stream = self._current if about is None else self._by_request.get(about)
        (stream or self.stream).put(data)

    def _on_response(self, id: Id) -> None:
        super()._on_response(id)
        self._release(id)

    def _drop(self, id: Id) -> bool:
        was_running = super()._drop(id)
        self._release(id)
        return was_running

    def _release(self, id: Id) -> None:
        """Finish a stream when the last of its requests is answered."""
        stream = self._by_request.pop(id, None)
        if stream is not None:
            stream.owed -= 1
            if not stream.owed:
                stream.finish()

    def cancel(self, stream: Outbox, why: str) -> None:
        """Cancel the requests that are answered on a stream, as if the client had."""
        for id in [id for id, own in self._by_request.items() if own is stream]:
            params = msgspec.json.encode({"requestId": id, "reason": why})
            self.receive(jsonrpc.notification("notifications/cancelled", params))

    async def drain(self) -> None:
        for stream in {*self._by_request.values()}:
            await stream.drain()

    def interrupt(self, id: Id, retry: int) -> None:
        if stream := self._by_request.get(id):
            stream.interrupt(retry)

    @property
    def primes(self) -> bool:
        """True if a stream begins with an event without data, so it can be resumed."""
        agreed = self.session.agreed
        return agreed is not None and agreed.translation.revision.primed_streams

    def hold_open(self) -> None:
        """Keep the session from being idle, until `release_hold`: it has an open response."""
        self.responses += 1

    def release_hold(self) -> None:
        self.responses -= 1
        self.used = self.loop.time()

    def begin_standalone(self) -> Outbox:
        """Return the stream of a GET."""
        return self.stream

    def stream_of(self, name: str) -> Outbox:
        """Return the stream of this name; a finished one if the session no longer has it."""
        if name.startswith(STANDALONE):
            return self.stream
        if name not in self.streams:
            finished = Outbox(name, self.server.limits)
            finished.finish()
            return finished
        return self.streams[name]

    def forget(self, stream: Outbox) -> None:
        """Drop a stream sent to its end."""
        self.streams.pop(stream.name, None)

    # ---- resumption

    async def events(self, stream: Outbox, messages: Sequence[bytes]) -> bytes:
        """Return the events for messages, stored under their ids unless the session has ended."""
        if self.session.state is State.CLOSED:
            return await super().events(stream, messages)
        try:
            async with stream.storing:
                name, count = stream.name, stream.stored
                await self._events.append(self.id, name, count, messages, self._note(stream))
                stream.stored += len(messages)
        except BaseException:
            stream.put_back(messages)
            raise
        self.used = self.loop.time()
        return encode_events(name, count, messages)

    def on_response_end(self, stream: Outbox) -> None:
        """Store the rest of the stream, until the client resumes it."""
        self.release_hold()
        if stream.is_over:
            self.forget(stream)
        elif not stream.reader and stream is not self.stream:
            self.spawn(self._store_rest(stream, stream.attach()))

    def _note(self, stream: Outbox) -> bytes:
        """Return the note to store with the stream's events, for a process that continues the
        stream.
        """
        return b""

    async def _store_rest(self, stream: Outbox, reader: int) -> None:
        while stream.reader == reader and not stream.is_over:
            stream.retry = None  # no response is open that could be interrupted
            if (data := await stream.next(reader)) is not None:
                await self._store(stream, data)
        if stream.is_over:
            self.forget(stream)

    async def _store(self, stream: Outbox, data: bytes) -> None:
        """Store an event without a waiting reader."""
        await self.events(stream, [data])

    @property
    def can_leave(self) -> bool:
        """True if the end of the session would cut off no response or stream."""
        return not (self.responses or self.streams)

    def close(self) -> None:
        if self.session.state is not State.CLOSED:
            self.session.held.change(-SESSION_BYTES)
        self.disconnect("the session has ended")
        for stream in [self.stream, *self.streams.values()]:
            stream.finish()

    def stop_listening(self) -> None:
        if self.primes and not self.stream.has_news:
            self.stream.interrupt(COME_BACK)
        self.stream.finish()
