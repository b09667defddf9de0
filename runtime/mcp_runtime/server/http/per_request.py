"""The per-request era over HTTP: each POST is one request with a response of its own.

Source: 2026-07-28 basic/transports/streamable-http.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

import msgspec

from mcp_runtime.core import error_codes, http_rules, jsonrpc
from mcp_runtime.core.events import Called, Write
from mcp_runtime.core.jsonrpc import ErrorResponse, Id, Request, Response
from mcp_runtime.core.param_headers import check_headers
from mcp_runtime.core.rate_limit import Bucket
from mcp_runtime.server.http.event_response import EventResponse
from mcp_runtime.server.http.outbox import Outbox
from mcp_runtime.server.http.request import JSON, ClientGone, HttpError, HttpRequest, retry_after
from mcp_runtime.server.http.service import HttpService
from mcp_runtime.server.http.streaming import StreamingConnection

__all__ = ["PerRequestEndpoint", "RequestConnection"]


class RequestConnection(StreamingConnection):
    """One request, and the stream of its response.

    `rates` limits all requests of the application together.
    """

    def __init__(
        self,
        service: HttpService,
        headers: Mapping[str, str],
        principal: str,
        *,
        open_requests: set[RequestConnection],
        rates: dict[str, Bucket],
    ) -> None:
        super().__init__(service.server, principal=principal, trace=service.trace)
        self.protection = service.protection
        self.server_session.stateless = True
        self.stream: Final = Outbox("", service.limits)
        self._open_requests = open_requests
        self._rates = rates
        self._headers = headers

    @property
    def general_stream(self) -> Outbox:
        return self.stream

    def receive(self, body: bytes) -> None:
        """Starts to work on a body. Raises HttpError."""
        frame = self.read(body)
        if isinstance(frame, Response | ErrorResponse):
            raise HttpError(400, "a response is not expected here: a server asks in its results")
        if isinstance(frame, Request):
            self._require_version(frame)
        self.server_session.guard = self._guard
        try:
            self.handle(self.session.handle(frame, self.loop.time()))
        finally:
            self.server_session.guard = None  # no reference cycle is left to the collector
        if self.server_session.subscriptions.open:
            self.server.connections.add(self)
        self._open_requests.add(self)

    def _require_version(self, frame: Request) -> None:
        """Source: 2026-07-28 basic/versioning, "Backward Compatibility"."""
        if http_rules.VERSION not in self._headers:
            versions = self.server.offer().newest_first
            names = ", ".join(versions)
            why = f"Header mismatch: MCP-Protocol-Version is missing; supported: {names}"
            data = msgspec.json.encode({"supported": versions})
            body = jsonrpc.error_response(frame.id, error_codes.HEADER_MISMATCH, why, data)
            raise HttpError(400, why, body)

    def _guard(self, frame: Request, version: str) -> None:
        check_headers(self._headers, frame, version, self.server.mirrored)

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

    def response_ended(self, stream: Outbox) -> None:
        self.close()

    def close(self) -> None:
        self._open_requests.discard(self)
        self.disconnect("the client has closed the stream")

    def stop_listening(self) -> None:
        if self.server_session.subscriptions.open:
            self.close_gracefully()

    def close_gracefully(self) -> None:
        for data in self.server_session.end_subscriptions(cancelling=False):
            self.send(data)
        self.stream.finish()


class PerRequestEndpoint:
    """Answers the POSTs of the per-request era; `open` has the requests that are not answered."""

    def __init__(self, service: HttpService) -> None:
        self.open: Final[set[RequestConnection]] = set()
        self._service = service
        self._rates: dict[str, Bucket] = {}

    async def post(self, request: HttpRequest, body: bytes) -> EventResponse | None:
        """Replies, or returns the stream that is the response. Raises HttpError, ClientGone."""
        self._require_room()
        connection = RequestConnection(
            self._service,
            request.headers,
            self._service.principal(request),
            open_requests=self.open,
            rates=self._rates,
        )
        connection.receive(body)
        response = None
        try:
            stream, was_refused = connection.stream, connection.stream.finished
            if not stream.has_news and not connection.session.running:
                await request.reply(202, b"", ())
                return None
            keep_alive = self._service.limits.keep_alive
            if not await stream.has_news_soon():
                await _news_or_gone(stream, request, keep_alive)
            if (message := stream.only_message) is not None:
                await request.reply(http_rules.status(message, was_refused), message, (JSON,))
            else:
                reader = stream.attach()
                response = EventResponse(request, connection, stream, reader, keep_alive=keep_alive)
            return response
        finally:
            if response is None:
                connection.close()

    def _require_room(self) -> None:
        limit = self._service.limits.sessions
        if len(self.open) >= limit:
            why = f"{limit} requests are open (Limits.sessions)"
            raise HttpError(503, why, headers=retry_after(1))


async def _news_or_gone(stream: Outbox, request: HttpRequest, seconds: float) -> None:
    """Waits for news on the stream, for `seconds` at most. Raises ClientGone."""
    news = asyncio.ensure_future(stream.news(seconds))
    gone = asyncio.ensure_future(request.gone())
    try:
        await asyncio.wait({news, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not news.done():
            raise ClientGone
    finally:
        news.cancel()
        gone.cancel()
