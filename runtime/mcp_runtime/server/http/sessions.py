"""A server's connections over HTTP: one request by itself, a session, and HTTP+SSE."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcp_runtime.core import error_codes, http_rules, jsonrpc, sse
from mcp_runtime.core.events import Called, Write
from mcp_runtime.core.jsonrpc import Batch, ErrorResponse, Frame, Id, Malformed, Request, Response
from mcp_runtime.core.lifecycle import State
from mcp_runtime.core.param_headers import check_mirrors
from mcp_runtime.core.rate_limit import Bucket
from mcp_runtime.server.connection import ServerConnection
from mcp_runtime.server.http.outbox import Outbox
from mcp_runtime.server.http.request import Denied
from mcp_runtime.server.http.session_record import SessionRecord
from mcp_runtime.stores import EventStore

if TYPE_CHECKING:
    from mcp_runtime.server.server import Server
    from mcp_runtime.shared.connection import Trace

__all__ = ["HttpSession", "LegacySseSession", "RequestConnection"]


def _is_nothing(frame: Frame) -> bool:
    """Whether it is no message, and has no id under which that could be said."""
    return isinstance(frame, Malformed) and (frame.id is None or frame.is_response)


class _StreamingConnection(ServerConnection):
    """Messages go into streams; bodies come from POSTs."""

    @property
    @abstractmethod
    def listening(self) -> Outbox:
        """The stream of what is about no request."""

    def read(self, body: bytes) -> Frame:
        """Raises Denied for what is no message."""
        frame = self.session.read(body)
        if isinstance(frame, Malformed):
            id = None if frame.is_response else frame.id
            raise Denied(400, frame.message, jsonrpc.refusal(id, frame.code, frame.message))
        if isinstance(frame, Batch) and all(map(_is_nothing, frame.frames)):
            raise Denied(400, "Invalid request: a batch without a message")
        return frame

    def tell_changed(self, what: str) -> None:
        if not self.listening.is_behind:
            super().tell_changed(what)

    def tell_updated(self, uri: str) -> None:
        if not self.listening.is_behind:
            super().tell_updated(uri)

    async def event(self, stream: Outbox, data: bytes) -> bytes:
        """Of a message that was taken from the stream."""
        return sse.encode(sse.Event(data=data))

    @abstractmethod
    def responded(self, stream: Outbox) -> None:
        """A response that sent the stream is over."""

    def leave(self, why: str) -> None:
        """What is worked on is cancelled."""
        self.server.connections.discard(self)
        self.end(why)

    def wind_up(self) -> None:
        """The server goes down: what only listens ends, what is worked on may still."""

    def cut_off(self) -> None:
        """The server goes down, and waits no longer for what is worked on."""
        for id in [*self.session.running]:
            why = "the server is going down"
            self.send(self.session.refuse(id, error_codes.INTERNAL_ERROR, why), id)
            self._drop(id)


class RequestConnection(_StreamingConnection):
    """One request of the per-request era, with a response of its own.

    `among` are those that are open, `rates` how fast they may come, all together.

    Source: 2026-07-28 basic/transports/streamable-http.
    """

    def __init__(
        self,
        server: Server,
        headers: Mapping[str, str],
        principal: str,
        *,
        among: set[RequestConnection],
        rates: dict[str, Bucket],
        trace: Trace | None = None,
    ) -> None:
        super().__init__(server, principal=principal, trace=trace)
        self.server_session.stateless = True
        self.stream: Final = Outbox("", server.limits)
        self._among = among
        self._rates = rates
        self._headers = headers

    @property
    def listening(self) -> Outbox:
        return self.stream

    def _guard(self, frame: Request, version: str) -> None:
        params: dict[str, Any] = msgspec.json.decode(frame.params)
        tool = params.get("name") if frame.method == "tools/call" else None
        check_mirrors(self._headers, frame.method, params, version, self.server.mirrored(tool))

    def take(self, body: bytes) -> None:
        """Raises Denied."""
        frame = self.read(body)
        if isinstance(frame, Response | ErrorResponse):
            raise Denied(400, "a response has no place here: the server asks in its results")
        if isinstance(frame, Request):
            self._require_version(frame)
        self.server_session.guard = self._guard
        try:
            self.handle(self.session.on(frame, self.loop.time()))
        finally:
            self.server_session.guard = None  # so that no cycle waits for the collector
        if self.server_session.subscriptions.open:
            self.server.connections.add(self)
        self._among.add(self)

    def _require_version(self, frame: Request) -> None:
        """Source: 2026-07-28 basic/versioning, "Backward Compatibility"."""
        if "mcp-protocol-version" not in self._headers:
            spoken = self.server.offer().newest_first
            why = f"Header mismatch: MCP-Protocol-Version is missing; spoken: {', '.join(spoken)}"
            data = msgspec.json.encode({"supported": spoken})
            raise Denied(
                400, why, jsonrpc.refusal(frame.id, error_codes.HEADER_MISMATCH, why, data)
            )

    def _write(self, data: bytes, about: Id | None) -> None:
        self.stream.put(data)

    def _on_write(self, event: Write) -> None:
        self.send(event.data)
        if not self.session.running:
            self.stream.finish()

    async def _serve(self, called: Called) -> None:
        try:
            self.send(await self._answer(called), called.id)
        finally:
            self._tasks.pop(called.id, None)
            self.stream.finish()

    async def drain(self) -> None:
        await self.stream.drain()

    def responded(self, stream: Outbox) -> None:
        self.close()

    def close(self) -> None:
        """The client is gone, or has what it asked for."""
        self._among.discard(self)
        self.leave("the client has closed the stream")

    def wind_up(self) -> None:
        if self.server_session.subscriptions.open:
            self.bid_farewell()

    def bid_farewell(self) -> None:
        for data in self.server_session.end_subscriptions(cancelling=False):
            self.send(data)
        self.stream.finish()


class HttpSession(_StreamingConnection):
    """A session of the handshake era: each POST has a stream, what is about none has another.

    Requests to the client and streams are numbered from `first` on.

    Source: 2025-11-25 basic/transports, "Streamable HTTP".
    """

    # Where sessions are kept; elsewhere these take no room in each of them.
    begun = b""
    """The body that began it."""
    kept: SessionRecord | None = None

    def __init__(
        self,
        server: Server,
        id: str,
        principal: str,
        *,
        events: EventStore,
        first: int = 1,
        trace: Trace | None = None,
    ) -> None:
        super().__init__(server, principal=principal, first_id=first, trace=trace)
        self.id: Final = id
        self._events = events
        self.used = self.loop.time()
        self.responses = 0
        """How many are open, or wait for their answer."""
        self.standalone: Final = Outbox("0", server.limits)
        self.streams: dict[str, Outbox] = {"0": self.standalone}
        self._names = count(first)
        self._by_request: dict[Id, Outbox] = {}
        self._current: Outbox | None = None

    @property
    def listening(self) -> Outbox:
        return self.standalone

    def take(self, body: bytes) -> Outbox:
        """What one POST holds, and the stream of its answers. Raises Denied."""
        frame = self.read(body)
        stream = Outbox(str(next(self._names)), self.server.limits)
        self._current = stream
        try:
            events = self.session.on(frame, self.loop.time())
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
        (stream or self.standalone).put(data)

    def _on_served(self, id: Id) -> None:
        super()._on_served(id)
        self._release(id)

    def _drop(self, id: Id) -> bool:
        found = super()._drop(id)
        self._release(id)
        return found

    def _release(self, id: Id) -> None:
        """A stream ends with the last of its requests."""
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
        agreed = self.session.agreed
        return agreed is not None and http_rules.primes(agreed.crossing.revision.name)

    def responding(self) -> None:
        """A response is open, or waits for its answer, until it has `left`."""
        self.responses += 1

    def left(self) -> None:
        self.responses -= 1
        self.used = self.loop.time()

    def stream(self, name: str) -> Outbox:
        """One that is no more has ended."""
        if name not in self.streams:
            ended = Outbox(name, self.server.limits)
            ended.finish()
            return ended
        return self.streams[name]

    def forget(self, stream: Outbox) -> None:
        """Its end was read."""
        self.streams.pop(stream.name, None)

    # ---- what can be resumed

    async def event(self, stream: Outbox, data: bytes) -> bytes:
        """Under the id of which it is stored. Of a session that has ended nothing is stored."""
        if self.session.state is State.CLOSED:
            return sse.encode(sse.Event(data=data))
        try:
            async with stream.storing:
                id = await self._events.append(self.id, stream.name, data)
        except BaseException:
            if data:
                stream.put_back(data)
            raise
        self.used = self.loop.time()
        return sse.encode(sse.Event(id=id, data=data))

    def responded(self, stream: Outbox) -> None:
        """What comes after the client is gone is stored."""
        self.left()
        if stream.is_over:
            self.forget(stream)
        elif not stream.reader and stream is not self.standalone:
            self.spawn(self._store_rest(stream, stream.attach()))

    async def _store_rest(self, stream: Outbox, reader: int) -> None:
        """Until the client comes again; so nothing waits for it but in the store."""
        while stream.reader == reader and not stream.is_over:
            stream.retry = None  # nobody is there to be sent away
            if (data := await stream.take(reader)) is not None:
                await self.event(stream, data)
        if stream.is_over:
            self.forget(stream)

    def close(self) -> None:
        self.leave("the session has ended")
        for stream in [*self.streams.values()]:
            stream.finish()

    def wind_up(self) -> None:
        self.standalone.finish()

    def bid_farewell(self) -> None:
        self.close()


class LegacySseSession(_StreamingConnection):
    """A session of HTTP+SSE, which has one stream for all.

    Source: 2024-11-05 basic/transports, "HTTP with SSE".
    """

    def __init__(
        self,
        server: Server,
        id: str,
        principal: str,
        *,
        among: dict[str, LegacySseSession],
        trace: Trace | None = None,
    ) -> None:
        super().__init__(server, principal=principal, trace=trace)
        self.id: Final = id
        self.stream: Final = Outbox("0", server.limits)
        self._among = among
        self._ends = False
        among[id] = self
        server.connections.add(self)

    @property
    def listening(self) -> Outbox:
        return self.stream

    def take(self, body: bytes) -> None:
        """Raises Denied."""
        frame = self.read(body)
        if self.stream.is_full:
            raise Denied(503, "the stream of this session is not read")
        self.handle(self.session.on(frame, self.loop.time()))

    def _write(self, data: bytes, about: Id | None) -> None:
        self.stream.put(data)

    async def drain(self) -> None:
        await self.stream.drain()

    def responded(self, stream: Outbox) -> None:
        del self._among[self.id]
        self.close()

    def close(self) -> None:
        self.leave("the client has closed the stream")
        self.stream.finish()

    async def _serve(self, called: Called) -> None:
        await super()._serve(called)
        if self._ends:
            self.wind_up()

    def wind_up(self) -> None:
        self._ends = True
        if not self.session.running:
            self.close()

    def bid_farewell(self) -> None:
        self.close()
