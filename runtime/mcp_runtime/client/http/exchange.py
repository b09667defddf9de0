"""The exchanges of a connection over HTTP: the client's posts, and the server's responses.

Source: 2026-07-28 basic/transports/streamable-http; 2025-11-25, 2025-06-18, 2025-03-26 and
2024-11-05 basic/transports.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Final

from mcp_runtime.client.connection import ClientConnection, ConnectionOwner
from mcp_runtime.client.http.backoff import Backoff
from mcp_runtime.client.http.event_stream import ANY_ERA, STREAM, EventStream
from mcp_runtime.client.http.http import HttpResponse, HttpSender
from mcp_runtime.client.http.server_facts import ServerFacts
from mcp_runtime.core.http.header_checks import request_headers
from mcp_runtime.core.http.http_rules import EVENT_STREAM, JSON
from mcp_runtime.core.session.lifecycle import State
from mcp_runtime.core.session.pending import PendingRequest
from mcp_runtime.core.wire import error_codes, jsonrpc, peek
from mcp_runtime.core.wire.jsonrpc import ErrorResponse, Frame, Id, Notification, Request
from mcp_runtime.core.wire.lines import TooLong
from mcp_runtime.errors import (
    BadAnswer,
    BadStatus,
    Disconnected,
    LocalError,
    NotReached,
    SessionError,
    Unauthorized,
)
from mcp_runtime.revisions import first_name
from mcp_runtime.shared.request_headers import sending_headers

log: Final = logging.getLogger("mcp_runtime.client")

_POST: Final = {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}
_CANCEL: Final = "notifications/cancelled"
_SESSION: Final = "Mcp-Session-Id"
_MAYBE_LEGACY: Final = frozenset({400, 404, 405})
"""Statuses by which a server of HTTP+SSE answers a POST."""


class Exchanges(ClientConnection):
    """The requests and messages of one connection; a subclass opens and renews it."""

    transport = "http"

    def __init__(self, owner: ConnectionOwner, http: HttpSender, facts: ServerFacts) -> None:
        super().__init__(owner)
        self.session.shakes_hands_late = True
        self._http = http
        self._facts = facts
        self._url = http.url
        self._session_id = ""
        self._exchanges: dict[Id, asyncio.Task[None]] = {}
        self._posts: set[asyncio.Task[None]] = set()
        self._probe: asyncio.Task[None] | None = None
        self._initializing: asyncio.Task[None] | None = None
        """Posts `notifications/initialized`, which everything else waits for."""

    @abstractmethod
    async def _renew(self, lost: str) -> None:
        """Open a new session, since the server forgot this one. Raises as `open` does."""

    @abstractmethod
    async def _legacy_sse_fault(self) -> SessionError | None:
        """Try HTTP+SSE, and use it from now on if the server speaks it; else return the error."""

    @property
    def _is_open(self) -> bool:
        return self.session.state is State.OPEN

    @property
    def _is_per_request(self) -> bool:
        return self._facts.mode == "per-request"

    @property
    def session_id(self) -> str:
        return self._session_id

    @property
    def address(self) -> tuple[str, int | None]:
        return self._url.host, self._url.port or {"https": 443, "http": 80}.get(self._url.scheme)

    async def drain(self) -> None:
        if self._posts:
            await asyncio.wait(self._posts)

    # ---- sending

    def _write(self, data: bytes, about: Id | None) -> None:
        frame = jsonrpc.read(data, max_batch=self.session.limits.in_flight)
        if isinstance(frame, Request):
            task = self._exchanges[frame.id] = self.loop.create_task(self._exchange(frame, data))
            task.add_done_callback(lambda _: self._exchanges.pop(frame.id, None))
            self._probe = task if first_name(frame.method) == "server/discover" else self._probe
        elif isinstance(frame, Notification) and first_name(frame.method) == _CANCEL:
            self._cancel(peek.cancellation(frame.params).request_id, data)
        elif isinstance(frame, Notification) and frame.method == "notifications/initialized":
            self._initializing = self._start_post(self._post(data, opens=True))
        else:
            self._start_post(self._post(data))

    def _start_post(self, post: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self.loop.create_task(post)
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)
        return task

    def _cancel(self, id: Id, data: bytes) -> None:
        """Cancel a request; in the per-request era by ending its stream.

        Source: 2026-07-28 basic/patterns/cancellation; 2025-11-25 basic/transports, "Sending
        Messages to the Server".
        """
        if not self._is_per_request and self._is_open:
            self._start_post(self._post(data))
        if (exchange := self._exchanges.get(id)) is not None:
            exchange.cancel()

    async def _post(self, data: bytes, *, opens: bool = False) -> None:
        """Post a notification or a response; `opens` marks a message before any session."""
        try:
            async with (
                asyncio.timeout(self.session.limits.deadline),
                self._open_post(data, self._session_headers, opens=opens) as response,
            ):
                if not response.ok:
                    raise response.error("a message without an answer", await response.body())
        except (SessionError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            log.warning("the server did not accept a message: %s", why)

    async def _exchange(self, request: Request, data: bytes) -> None:
        """Post a request, and handle the response."""
        opens = first_name(request.method) in ("initialize", "server/discover")
        try:
            make = self._headers_of_hooks if self.hooks.on_call else self._request_headers
            headers = partial(make, request)
            async with self._open_post(data, headers, opens=opens) as response:
                if response.ok:
                    await self._receive_answer(request, response)
                else:
                    await self._receive_error(request, data, response)
            if request.id in self.session.pending and self._facts.mode != "HTTP+SSE":
                raise BadAnswer(f"{request.method}: the server has ended without an answer")
        except SessionError as error:
            self._fail(request, error)
        except Exception as error:  # nobody awaits this task: the caller would wait for nothing
            log.exception("%s failed in this client", request.method)
            why = f"{type(error).__name__}: {error}"
            self._fail(request, LocalError(f"{request.method} failed in this client: {why}"))

    @asynccontextmanager
    async def _open_post(
        self, data: bytes, headers: Callable[[], Mapping[str, str]], *, opens: bool
    ) -> AsyncGenerator[HttpResponse]:
        """Post a message and yield the response; `opens` marks a message before any session.

        If the server refused the message because it forgot the session, the message is posted once
        more.
        """
        for may_renew in (True, False):
            if self._initializing is not None and not opens:
                await asyncio.wait((self._initializing,))
            session_id, sent = self._session_id, {**_POST, **headers()}
            async with self._http.send("POST", self._url, sent, data) as response:
                can_renew = session_id and may_renew and not opens
                if not (can_renew and await response.lost_session()):
                    yield response
                    return
            await self._renew(session_id)

    def _headers_of_hooks(self, request: Request) -> Mapping[str, str]:
        """Return the headers of a request, with those of the hooks."""
        return {**sending_headers.get(), **self._request_headers(request)}

    def _request_headers(self, request: Request) -> Mapping[str, str]:
        if request.method == "initialize":
            return {}
        if first_name(request.method) == "server/discover" or self._is_per_request:
            names = self.session.offer.extensions.names
            return request_headers(request, self._facts.marks, names)
        return self._session_headers()

    def _session_headers(self) -> dict[str, str]:
        """Return the headers of everything after a handshake."""
        headers = {_SESSION: self._session_id} if self._session_id else {}
        agreed = self.session.agreed
        if agreed is not None and agreed.translation.revision.version_header:
            headers["MCP-Protocol-Version"] = agreed.translation.revision.name
        return headers

    # ---- receiving

    def _settle(self, sent: PendingRequest, settle: Callable[[asyncio.Future[Any]], None]) -> None:
        """Settle a request; its answer may come on another stream, so its own stream soon ends."""
        super()._settle(sent, settle)
        exchange = self._exchanges.get(sent.id)
        if exchange is not None and exchange is not asyncio.current_task():
            self.loop.call_later(self.session.limits.close_wait, exchange.cancel)

    async def _receive_answer(self, request: Request, response: HttpResponse) -> None:
        if self._facts.mode == "HTTP+SSE":
            return
        if request.method == "initialize":
            self._session_id = _session_id(response)
        if response.kind == JSON:
            await self._receive(await response.body())
        elif response.kind == EVENT_STREAM:
            await self._follow(request, response)
        else:
            what = f"of type {response.kind[:80]!r}" if response.kind else "without a type"
            raise BadAnswer(f"{request.method}: an answer {what}, HTTP {response.status}")

    async def _receive_error(self, request: Request, data: bytes, response: HttpResponse) -> None:
        """Answer the request with the JSON-RPC error in the body, whatever id the error has."""
        if response.status == 401:
            raise Unauthorized(request.method, refused=response.had_token)
        body = await response.body()
        frame = self.session.reread(body, jsonrpc.read(body))
        if self._may_be_legacy(request, response, frame):
            if (fault := await self._legacy_sse_fault()) is None:
                await self._exchange(request, data)
                return
            if response.status == 405 or isinstance(fault, Unauthorized):
                raise fault  # the GET was the way in
        if isinstance(frame, ErrorResponse):
            if self._trace is not None:
                self._trace("received", body)
            self.handle(self.session.answer_with_error(request.id, frame, self.loop.time()))
        else:
            raise response.error(request.method, body)

    def _may_be_legacy(self, request: Request, response: HttpResponse, frame: Frame) -> bool:
        """Return True if a server of HTTP+SSE may respond so."""
        first = request.method == "initialize" and self._facts.mode is None
        modern = isinstance(frame, ErrorResponse) and frame.code in error_codes.MODERN
        return first and not modern and response.status in _MAYBE_LEGACY

    async def _receive(self, message: bytes | TooLong, request: Request | None = None) -> None:
        """Handle a message of the stream that answers `request`, or of one for all.

        Returns when there is room for the messages the next message may make us post.
        """
        if isinstance(message, TooLong):
            answers = [] if request is None else [request.id]
            is_only_stream = self._facts.mode == "HTTP+SSE"
            self.handle(self.session.too_long(message, None if is_only_stream else answers))
        else:
            self.handle(self.session.handle(self.session.read(message), self.loop.time()))
        while len(self._posts) >= self.session.limits.posts:
            await asyncio.wait(self._posts, return_when=asyncio.FIRST_COMPLETED)

    def _fail(self, request: Request, error: SessionError) -> None:
        is_old = (
            isinstance(error, BadAnswer)
            or (isinstance(error, BadStatus) and error.status not in ANY_ERA)
            or (isinstance(error, Disconnected) and not isinstance(error, NotReached))
        )
        self.handle(self.session.fail_request(request.id, error, self.loop.time(), is_old=is_old))

    # ---- streams

    def _get(self, headers: Mapping[str, str]) -> AbstractAsyncContextManager[HttpResponse]:
        sent = {**STREAM, **self._session_headers(), **headers}
        return self._http.send("GET", self._url, sent)

    def _new_stream(self, request: Request | None = None) -> EventStream:
        """Return the server's own stream, or the stream that answers a request."""
        limits, receive = self.session.limits, partial(self._receive, request=request)
        return EventStream(self._get, receive, limits, Backoff("a stream", limits))

    async def _follow(self, request: Request, response: HttpResponse) -> None:
        """Follow a stream to the answer; in the handshake era also over a broken connection."""
        resumes = not self._is_per_request and first_name(request.method) != "server/discover"
        try:
            await self._new_stream(request).follow(
                response, lambda: request.id not in self.session.pending, resumes=resumes
            )
        except Disconnected as error:
            raise Disconnected(f"{request.method}: {error}") from error


def _session_id(response: HttpResponse) -> str:
    """Return the session id of a response; empty for none. Raises BadAnswer for a malformed id."""
    session_id = response.headers.get(_SESSION, "")
    if not all("\x21" <= character <= "\x7e" for character in session_id):
        shown = repr(session_id[:80])
        raise BadAnswer(f"a session id with other characters than visible ASCII: {shown}")
    return session_id
