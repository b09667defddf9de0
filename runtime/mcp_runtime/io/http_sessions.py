"""A server's connections over HTTP: one request by itself, a session, and HTTP+SSE."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from mcp_runtime.core import http
from mcp_runtime.core.envelope import Id, Request
from mcp_runtime.core.events import Called, GaveUp, Write
from mcp_runtime.io.streams import Stream
from mcp_runtime.serving import ServerConnection

if TYPE_CHECKING:
    from mcp_runtime.connection import Trace
    from mcp_runtime.server import Server

__all__ = ["Exchange", "OneStream", "OverHttp"]


class Exchange(ServerConnection):
    """One request of the per-request era, with a response of its own.

    Source: 2026-07-28 basic/transports/streamable-http.
    """

    def __init__(
        self,
        server: Server,
        headers: Mapping[str, str],
        principal: str,
        *,
        trace: Trace | None = None,
    ) -> None:
        super().__init__(server, principal=principal, trace=trace)
        self.server_session.stateless = True
        self.server_session.guard = self._guard
        self.stream = Stream("", server.limits)
        self._headers = headers

    def _guard(self, frame: Request, version: str) -> None:
        params: dict[str, Any] = msgspec.json.decode(frame.params)
        schema = None
        if frame.method == "tools/call":
            schema = self.server.input_schema(params.get("name"))
        http.check_mirrors(self._headers, frame.method, params, version, schema)

    def take(self, body: bytes) -> None:
        self.heed(self.session.take(body, self.loop.time()))
        if self.server_session.subscriptions.open:
            self.server.connections.add(self)

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

    def close(self) -> None:
        """The client is gone, or has what it asked for."""
        self.server.connections.discard(self)
        self.end("the client has closed the stream")

    def bid_farewell(self) -> None:
        for data in self.server_session.end_subscriptions(cancelling=False):
            self.send(data)
        self.stream.finish()


class OverHttp(ServerConnection):
    """A session of the handshake era: each POST has a stream, what is about none has another.

    Source: 2025-11-25 basic/transports, "Streamable HTTP".
    """

    def __init__(
        self, server: Server, id: str, principal: str, *, trace: Trace | None = None
    ) -> None:
        super().__init__(server, principal=principal, trace=trace)
        self.id = id
        self.used = self.loop.time()
        self.standalone = Stream("0", server.limits)
        self.streams: dict[str, Stream] = {"0": self.standalone}
        self._names = count(1)
        self._by_request: dict[Id, Stream] = {}
        self._current: Stream | None = None

    def take(self, body: bytes) -> Stream:
        """What one POST holds, and the stream of its answers."""
        self.used = self.loop.time()
        stream = Stream(str(next(self._names)), self.server.limits)
        known = self.session.running.keys() - ()
        self._current = stream
        try:
            events = self.session.take(body, self.loop.time())
            for id in self.session.running.keys() - known:
                self._by_request[id] = stream
            self.heed(events)
        finally:
            self._current = None
        if stream not in self._by_request.values():
            stream.finish()
        else:
            self.streams[stream.name] = stream
        return stream

    def _write(self, data: bytes, about: Id | None) -> None:
        stream = self._current if about is None else self._by_request.get(about)
        (stream or self.standalone).put(data)

    async def _serve(self, called: Called) -> None:
        try:
            self.send(await self._answer(called), called.id)
        finally:
            self._tasks.pop(called.id, None)
            self._release(called.id)

    def _on_gave_up(self, event: GaveUp) -> None:
        super()._on_gave_up(event)
        self._release(event.id)

    def _release(self, id: Id) -> None:
        """A stream ends with the last of its requests."""
        stream = self._by_request.pop(id, None)
        if stream is not None and stream not in self._by_request.values():
            stream.finish()

    async def drain(self) -> None:
        for stream in {*self._by_request.values()}:
            await stream.drain()

    def interrupt(self, id: Id, retry: int) -> None:
        if stream := self._by_request.get(id):
            stream.interrupt(retry)

    def forget(self, stream: Stream) -> None:
        """Its end was read."""
        self.streams.pop(stream.name, None)

    def close(self) -> None:
        self.server.connections.discard(self)
        self.end("the session has ended")
        for stream in [*self.streams.values()]:
            stream.finish()

    def bid_farewell(self) -> None:
        self.close()


class OneStream(ServerConnection):
    """A session of HTTP+SSE, which has one stream for all.

    Source: 2024-11-05 basic/transports, "HTTP with SSE".
    """

    def __init__(
        self, server: Server, id: str, principal: str, *, trace: Trace | None = None
    ) -> None:
        super().__init__(server, principal=principal, trace=trace)
        self.id = id
        self.stream = Stream("0", server.limits)

    def take(self, body: bytes) -> None:
        self.heed(self.session.take(body, self.loop.time()))

    def _write(self, data: bytes, about: Id | None) -> None:
        self.stream.put(data)

    async def drain(self) -> None:
        await self.stream.drain()

    def close(self) -> None:
        self.server.connections.discard(self)
        self.end("the client has closed the stream")
        self.stream.finish()

    def bid_farewell(self) -> None:
        self.close()
