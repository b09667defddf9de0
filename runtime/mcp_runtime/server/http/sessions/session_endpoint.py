"""Streamable HTTP of the handshake era: POST, GET and DELETE of sessions.

Source: 2025-11-25 basic/transports, "Streamable HTTP".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcp_runtime.core.http import http_rules
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.core.wire import peek
from mcp_runtime.server.http.asgi.event_response import EventResponse
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import JSON, ClientGone, HttpError, HttpRequest
from mcp_runtime.server.http.asgi.service import HttpService
from mcp_runtime.server.http.asgi.single_answer import single_answer, takes_streams
from mcp_runtime.server.http.cluster.followed_stream import encode_events, place
from mcp_runtime.server.http.sessions.http_session import HttpSession
from mcp_runtime.server.http.sessions.session_table import SessionTable
from mcp_runtime.stores import NoSuchEvent

_SESSION_ID: Final = "mcp-session-id"
_QUIET: Final = 0.5
"""Seconds before a response without news begins as a stream, if the client could resume it."""


class SessionEndpoint:
    """Serves the sessions of a table. All methods raise HttpError and ClientGone."""

    def __init__(self, service: HttpService, table: SessionTable[Any]) -> None:
        self._service = service
        self._table = table

    # ---- POST

    async def post(self, request: HttpRequest) -> EventResponse | None:
        """Handle a POST. Source: 2025-11-25 basic/transports, "Sending Messages to the Server"."""
        self._require_version(request)
        if _SESSION_ID not in request.headers:
            await self._begin(request, request.pop_content())
            return None
        session = await self._session(request)
        stream = session.receive(request.pop_content())
        session.uses += 1
        if self._table.is_shared:
            await self._table.keep(session)
        if stream.is_over:
            await request.reply(202, b"", ())
            return None
        session.hold_open()
        try:
            keep_alive = self._service.limits.keep_alive
            await stream.news(min(keep_alive, _QUIET) if session.primes else keep_alive)
            message = stream.pop_only()
            if message is None and not takes_streams(request):
                message = await self._single_answer(request, session, stream)
            if message is not None:
                session.forget(stream)
                await request.reply(200, message, (JSON,))
                return None
            return self._response(request, session, stream, stream.attach())
        finally:
            session.release_hold()

    async def _single_answer(
        self, request: HttpRequest, session: HttpSession, stream: Outbox
    ) -> bytes:
        """Return the only answer of a stream, when it comes. Raises HttpError, after the request
        was cancelled, and ClientGone.
        """
        try:
            return await single_answer(stream, request)
        except HttpError:
            session.cancel(stream, "its answer needs an event stream")
            raise
        except ClientGone:
            session.hold_open()
            session.on_response_end(stream)  # the rest is kept, as of a stream that broke
            raise

    async def _begin(self, request: HttpRequest, body: bytes) -> None:
        """Begin a session. Source: 2025-11-25 basic/transports, "Session Management"."""
        principal = self._service.principal(request)
        session = self._table.new(principal, self._service.share_of(request, principal))
        request.held = session.session.held
        if peek.http_message(body).method != "initialize":
            session.read(body)
            raise HttpError(400, "Mcp-Session-Id is missing; only `initialize` goes without")
        if len(body) > (limit := self._service.limits.initialize_bytes):  # a store keeps all of it
            raise HttpError(413, f"the body has more than {limit} bytes (Limits.initialize_bytes)")
        answer = session.receive(body).pop_only() or b""
        if session.session.state is State.NEW:
            raise HttpError(400, "the session was not initialized", answer)
        await self._table.begin(session, body)
        await request.reply(200, answer, (JSON, (b"mcp-session-id", session.id.encode())))

    def _require_version(self, request: HttpRequest) -> None:
        """Require the session's version.

        Source: 2025-11-25 basic/transports, "Protocol Version Header".
        """
        version = request.headers.get(http_rules.VERSION)
        offer = self._service.server.offer()
        if version is None or version in offer.handshake:
            return
        if version in offer.per_request:
            why = f"{request.method} has no meaning in {version}"
            raise HttpError(405, why, headers=[(b"allow", b"POST")])
        supported = ", ".join(offer.newest_first)
        why = f"MCP-Protocol-Version {version[:80]!r} is not supported; supported: {supported}"
        raise HttpError(400, why)

    async def _session(self, request: HttpRequest) -> HttpSession:
        """Return the session the request names, if it belongs to the request's principal."""
        if _SESSION_ID not in request.headers:
            raise HttpError(400, "Mcp-Session-Id is missing")
        principal = self._service.principal(request)
        share = self._service.share_of(request, principal)
        session: HttpSession | None = await self._table.find(request.headers[_SESSION_ID], share)
        if session is None or session.principal != principal:
            raise HttpError(404, "there is no such session")
        session.used = session.loop.time()
        request.held = session.session.held
        return session

    # ---- GET

    async def get(self, request: HttpRequest) -> EventResponse | None:
        """Return the response with the session's standalone stream, or with the stream the client
        resumes.

        Source: 2025-11-25 basic/transports, "Listening for Messages from the Server".
        """
        if not http_rules.accepts(request.headers.get("accept"), http_rules.EVENT_STREAM):
            raise HttpError(406, f"Accept must have {http_rules.EVENT_STREAM}")
        self._require_version(request)
        session = await self._session(request)
        if (last := request.headers.get("last-event-id")) is not None:
            return await self._resume(request, session, last)
        await self._table.catch_up(session)
        if session.stream.reader:
            raise HttpError(409, "the session has an open GET stream already")
        stream = session.begin_standalone()
        return self._response(request, session, stream, stream.attach())

    async def _resume(self, request: HttpRequest, session: HttpSession, last: str) -> EventResponse:
        """Resume a stream. Source: 2025-11-25 basic/transports, "Resumability and Redelivery"."""
        session.hold_open()
        try:
            name, number = place(last)
            stored = await self._table.events.after(session.id, name, number)
            if stored.note and (follower := self._table.follow(session, name, number)):
                return EventResponse(request, follower, follower.outbox, follower.outbox.attach())
            stream = session.stream_of(name)
            if stream is session.stream:
                await self._table.catch_up(session)
            reader = stream.attach()
            missed = await self._replay(session, stream, reader, name, number)
            return self._response(request, session, stream, reader, missed)
        except NoSuchEvent:
            raise HttpError(400, f"event {last[:80]!r} is no longer kept") from None
        finally:
            session.release_hold()

    async def _replay(
        self, session: HttpSession, stream: Outbox, reader: int, name: str, number: int
    ) -> Sequence[bytes]:
        """Return the events after event `number`. On any error, detach the reader. Raises
        NoSuchEvent.
        """
        try:
            async with stream.storing:  # by then, what the last reader took is stored
                missed = (await self._table.events.after(session.id, name, number)).events
                stream.resume(name, number, missed)
        except BaseException:
            stream.leave(reader)
            raise
        return [encode_events(name, at, [data]) for at, data in enumerate(missed, number) if data]

    def _response(
        self,
        request: HttpRequest,
        session: HttpSession,
        stream: Outbox,
        reader: int,
        missed: Sequence[bytes] | None = None,
    ) -> EventResponse:
        """Return the response that sends a stream; if it is resumed, first the events the client
        missed.
        """
        session.hold_open()
        if stream is session.stream:
            stream.until = self._service.expires()
        primes = session.primes and missed is None
        return EventResponse(request, session, stream, reader, missed or (), primes)

    # ---- DELETE

    async def delete(self, request: HttpRequest) -> None:
        self._require_version(request)
        await self._table.end(await self._session(request))
        await request.reply(204, b"", ())
