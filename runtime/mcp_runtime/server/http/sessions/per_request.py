"""The per-request era over HTTP: each POST is one request with a response of its own.

Source: 2026-07-28 basic/transports/streamable-http.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import islice
from typing import Final

from mcp_runtime.core.http import http_rules
from mcp_runtime.core.http.header_checks import check_headers, check_name
from mcp_runtime.core.session.events import Called
from mcp_runtime.core.session.held import HeldBytes, Share
from mcp_runtime.core.session.pending import Pending
from mcp_runtime.core.session.rate_limit import Bucket
from mcp_runtime.core.session.server_session import ServerSession
from mcp_runtime.core.terms.role import SERVER
from mcp_runtime.core.terms.tolerances import Tolerances
from mcp_runtime.core.terms.translation import Translations
from mcp_runtime.core.wire import error_codes, jsonrpc
from mcp_runtime.core.wire.jsonrpc import ErrorResponse, Id, Malformed, Request, Response
from mcp_runtime.core.wire.peek import RequestParams
from mcp_runtime.errors import NotOpen
from mcp_runtime.revisions import first_name
from mcp_runtime.server.http.asgi.event_response import EventResponse
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import (
    JSON,
    ClientGone,
    HttpError,
    HttpRequest,
    retry_after,
)
from mcp_runtime.server.http.asgi.service import AT_ONCE, HttpService
from mcp_runtime.server.http.asgi.single_answer import single_answer, stream_needed, takes_streams
from mcp_runtime.server.http.asgi.streaming import StreamingConnection, bad_body_error
from mcp_runtime.shared.eager import Waiting, begin

_LAST_RESPONSE: Final = 1.0
"""Seconds for a response to end after its handler was cancelled."""


class RequestSession(ServerSession):
    """The session of one request: it has no handshake, and headers must repeat the body."""

    has_handshake = False

    def __init__(
        self, endpoint: PerRequestEndpoint, headers: Mapping[str, str], held: HeldBytes
    ) -> None:
        server = endpoint.service.server
        super().__init__(
            server.offer,
            next_id=_no_id,
            limits=server.limits,
            translations=endpoint.translations,
            pending=endpoint.nothing_pending,
            held=held,
        )
        self._headers = headers
        self._param_headers = server.param_headers

    def _check(self, frame: Request, params: RequestParams, version: str) -> None:
        check_headers(self._headers, frame.method, params, version, self._param_headers)
        if first_name(frame.method) != "tools/call":
            check_name(self._headers, frame, self.offer().extensions.names)


def _no_id() -> Id:
    raise NotOpen("a request to the client has no place in the per-request era")


class RequestConnection(StreamingConnection):
    """One request, and the stream of its response."""

    called: Called | None = None
    """The request for `serve` to answer, if a handler is needed."""
    answer = b""
    """The only message of the response, if it needs no stream."""
    streams = False
    """True if the answer goes to the stream, after other messages or a wait."""
    was_cancelled = False
    """True if the handler was, by its client, by itself, or with the whole task."""

    def __init__(self, endpoint: PerRequestEndpoint, request: HttpRequest) -> None:
        service = endpoint.service
        principal = "" if service.is_anonymous else service.principal(request)
        held = request.held = HeldBytes(service.share_of(request, principal))
        super().__init__(
            service.server,
            principal=principal,
            trace=service.trace,
            session=RequestSession(endpoint, request.headers, held),
        )
        self.protection = service.protection
        self._endpoint = endpoint
        self._rates = endpoint.rates_of(self.principal)
        self._names_version = http_rules.VERSION in request.headers

    def _write(self, data: bytes, about: Id | None) -> None:
        if self.streams or self.session.running:
            self.streams = True
            self.stream.put(data)
        else:
            self.answer = data

    def receive(self, body: bytes) -> None:
        """Start to work on a body. Raises HttpError."""
        frame = self.session.read(body)
        if self.protection is not None:
            self.protection.require_tool_scopes(frame)
        if isinstance(frame, Request):
            if not self._names_version:
                raise self._version_missing(frame)
            if first_name(frame.method) == "subscriptions/listen":
                self.server.connections.add(self)
                self.stream.until = self._endpoint.service.expires()
        elif isinstance(frame, Malformed):
            raise bad_body_error(frame)
        elif isinstance(frame, Response | ErrorResponse):
            raise HttpError(400, "a response is not expected here: a server asks in its results")
        self.handle(self.session.handle(frame, self.loop.time()))
        self._endpoint.add(self)

    def _version_missing(self, frame: Request) -> HttpError:
        """Return the error for a request without the header MCP-Protocol-Version.

        Source: 2026-07-28 basic/versioning, "Backward Compatibility".
        """
        versions = self.server.offer().newest_first
        names = ", ".join(versions)
        why = f"Header mismatch: MCP-Protocol-Version is missing; supported: {names}"
        data = {"supported": versions}
        body = jsonrpc.refusal(frame.id, error_codes.HEADER_MISMATCH, why, data)
        return HttpError(400, why, body)

    def _on_call(self, event: Called) -> None:
        self.called = event

    async def serve(self, called: Called) -> None:
        """Run the handler in this task. If only the handler is cancelled, this task goes on."""
        task = asyncio.current_task(self.loop)
        assert task is not None
        self._tasks[called.id] = task
        try:
            self.send(await self._answer(called), called.id)
        except (asyncio.CancelledError, GeneratorExit):
            # The session cancels once, which ends only the handler: swallow it. A second
            # cancellation is meant for this task, by the ASGI server. And if this task is not the
            # one running, its coroutine is being closed. Both must go on.
            if task.cancelling() > 1 or asyncio.current_task() is not task:
                raise
        finally:
            self._tasks.pop(called.id, None)
            if not self.answer:
                self.stream.finish()
            if task.cancelling():
                self.was_cancelled = True
                task.uncancel()

    def on_response_end(self, stream: Outbox) -> None:
        self.close()

    def close(self) -> None:
        self._endpoint.remove(self)
        if self.session.running:
            self.disconnect("the client has closed the stream")
        else:  # nothing is left to cancel
            self.server.connections.discard(self)

    def give_up(self, why: str) -> None:
        """End the request with an error whose text is `why`, and its subscription if it has one."""
        self._endpoint.remove(self)
        self.stop_listening()
        self.refuse_running(error_codes.BUSY, why)

    def stop_listening(self) -> None:
        if self.server_session.subscriptions.open:
            for data in self.server_session.end_subscriptions(cancelling=False):
                self.send(data)
            self.stream.finish()


class PerRequestEndpoint:
    """Answers the POSTs of the per-request era."""

    def __init__(self, service: HttpService) -> None:
        self.service: Final = service
        self.open: Final[dict[RequestConnection, None]] = {}
        """Requests that are not answered yet, the oldest first."""
        self._counts: Final[dict[Share, int]] = {}
        """How many each peer has open, by its share in the account of bytes."""
        self._rates: Final[dict[str, dict[str, Bucket]]] = {}
        """The rate limits of principals, by method; those asked for last stand at the end."""
        self.translations: Final = Translations(Tolerances(SERVER, service.server.offer().strict))
        self.nothing_pending: Final = Pending()
        """Shared by all sessions, for none of them sends a request."""

    def add(self, connection: RequestConnection) -> None:
        """Count a request as open."""
        self.open[connection] = None
        share = connection.session.held.share
        self._counts[share] = self._counts.get(share, 0) + 1

    def remove(self, connection: RequestConnection) -> None:
        """Count a request as open no longer."""
        if connection not in self.open:
            return
        del self.open[connection]
        share = connection.session.held.share
        if (count := self._counts.pop(share)) > 1:
            self._counts[share] = count - 1

    def _make_room(self, share: Share) -> None:
        """End the oldest requests of the peer with the most, if there is no room for one more.

        Raises HttpError if this peer is the sender, or if every peer has as few.
        """
        count, limits = self._counts.get(share, 0), self.service.limits
        if count >= limits.principal_sessions and not self.service.is_anonymous:
            raise self.service.no_share("requests", 1)
        if len(self.open) < limits.sessions:
            return
        why = f"{limits.sessions} requests are open (Limits.sessions)"
        largest = max(self._counts, key=self._counts.__getitem__, default=share)
        if self._counts.get(largest, 0) <= count + 1:
            raise HttpError(503, why, headers=retry_after(1))
        theirs = (each for each in self.open if each.session.held.share is largest)
        for each in [*islice(theirs, 1 + self._counts[largest] // AT_ONCE)]:
            each.give_up(f"busy: {why}, and you have most of them")

    def rates_of(self, principal: str) -> dict[str, Bucket]:
        """Return the rate limits that all requests of a principal share. All anonymous requests
        share one set of limits, too.
        """
        if (rates := self._rates.get(principal)) is not None and len(self._rates) == 1:
            return rates
        self._rates[principal] = rates = self._rates.pop(principal, {})
        if len(self._rates) > self.service.limits.sessions:
            del self._rates[next(iter(self._rates))]
        return rates

    async def post(self, request: HttpRequest) -> EventResponse | None:
        """Reply, or return the stream that is the response. Raises HttpError, ClientGone."""
        connection = RequestConnection(self, request)
        self._make_room(connection.session.held.share)
        connection.receive(request.pop_content())
        called, response = connection.called, None
        try:
            if called is not None:
                serving = begin(connection.serve(called))
                if isinstance(serving, Waiting) or (
                    connection.was_cancelled and not connection.answer
                ):
                    await self._respond_beside(serving, request, connection)
                    return None
            if answer := connection.answer:
                await request.reply(http_rules.status(answer, called is None), answer, (JSON,))
            elif called is not None or connection.session.running:
                response = await self._respond(request, connection)
            else:
                await request.reply(202, b"", ())
            return response
        finally:
            if response is None:
                connection.close()

    async def _respond_beside(
        self, serving: Waiting[None] | None, request: HttpRequest, connection: RequestConnection
    ) -> None:
        """Send the response in a task of its own while the handler runs; wait for both."""
        connection.streams = True
        response = connection.loop.create_task(self._respond_whole(request, connection))
        if serving is not None:
            try:
                await serving
            except asyncio.CancelledError:
                response.cancel()
                raise
        await (asyncio.wait_for(response, _LAST_RESPONSE) if connection.was_cancelled else response)

    async def _respond_whole(self, request: HttpRequest, connection: RequestConnection) -> None:
        try:
            if (response := await self._respond(request, connection)) is not None:
                await response.run()
        finally:
            connection.close()

    async def _respond(
        self, request: HttpRequest, connection: RequestConnection
    ) -> EventResponse | None:
        """Reply with the only message, or return the stream that is the response."""
        stream = connection.stream
        if not takes_streams(request):
            if connection.server_session.subscriptions.open:
                raise stream_needed("a subscription has no end")
            answer = await single_answer(stream, request)
            await request.reply(http_rules.status(answer, at_once=False), answer, (JSON,))
            return None
        if not stream.has_news:
            await _wait_for_news(stream, request, stream.limits.keep_alive)
        if (message := stream.pop_only()) is not None:
            await request.reply(http_rules.status(message, at_once=False), message, (JSON,))
            return None
        return EventResponse(request, connection, stream, stream.attach())


async def _wait_for_news(stream: Outbox, request: HttpRequest, seconds: float) -> None:
    """Wait for news on the stream, for `seconds` at most. Raises ClientGone."""
    news = asyncio.ensure_future(stream.news(seconds))
    gone = asyncio.ensure_future(request.gone())
    try:
        await asyncio.wait({news, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not news.done():
            raise ClientGone
    finally:
        news.cancel()
        gone.cancel()
