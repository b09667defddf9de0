"""What a client posts over HTTP, and how it is answered, in each era.

Source: 2026-07-28 basic/transports/streamable-http; 2025-11-25, 2025-06-18, 2025-03-26 and
2024-11-05 basic/transports.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from mcp_runtime.client.connection import ClientConnection
from mcp_runtime.client.http.event_stream import ANY_ERA, STREAM, EventStream
from mcp_runtime.client.http.http import HttpClient, HttpResponse
from mcp_runtime.client.http.param_headers import ToolParamHeaders
from mcp_runtime.core import jsonrpc, peek
from mcp_runtime.core.client_session import MODERN_ERRORS
from mcp_runtime.core.http_rules import EVENT_STREAM, JSON
from mcp_runtime.core.jsonrpc import ErrorResponse, Frame, Id, Notification, Request
from mcp_runtime.core.lifecycle import State
from mcp_runtime.core.param_headers import mirrored
from mcp_runtime.core.pending import Sent
from mcp_runtime.errors import (
    BadAnswer,
    BadStatus,
    Disconnected,
    SessionError,
)

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client

__all__ = ["Exchanges", "ServerFacts"]

log: Final = logging.getLogger("mcp_runtime.client.client")

_BOTH: Final = {"Accept": f"{JSON}, {EVENT_STREAM}", "Content-Type": JSON}
_SESSION: Final = "Mcp-Session-Id"
_VERSIONED: Final = frozenset({"2025-06-18", "2025-11-25"})
"""Revisions with a handshake whose requests name the revision after it."""
_MAYBE_OLD: Final = frozenset({400, 404, 405})
"""Statuses by which a server of HTTP+SSE answers a POST."""


@dataclass(slots=True)
class ServerFacts:
    """Of the server of a URL: what it speaks, and its tools, for lists of them are kept as long."""

    way: Literal["per-request", "handshake", "HTTP+SSE"] | None = None
    tools: ToolParamHeaders = field(default_factory=ToolParamHeaders)


class Exchanges(ClientConnection):
    """The requests and messages of one connection, whose life is in other hands."""

    def __init__(
        self, client: Client, http: HttpClient, known: ServerFacts, draw: Callable[[], float]
    ) -> None:
        super().__init__(client)
        self.session.hurried = False
        self._http = http
        self._known = known
        self._draw = draw
        self._url = http.url
        self._session_id = ""
        self._exchanges: dict[Id, asyncio.Task[None]] = {}
        self._posts: set[asyncio.Task[None]] = set()
        self._greeted: asyncio.Task[None] | None = None

    @abstractmethod
    async def _renew(self, lost: str) -> None:
        """The server has forgotten a session. Raises as `open` does."""

    @abstractmethod
    async def _is_old(self) -> bool:
        """Whether the server speaks HTTP+SSE; then it is asked in that way from now on."""

    @property
    def _is_open(self) -> bool:
        return self.session.state is State.OPEN

    @property
    def _modern(self) -> bool:
        return self._known.way == "per-request"

    async def drain(self) -> None:
        if self._posts:
            await asyncio.wait(self._posts)

    # ---- what is sent

    def _write(self, data: bytes, about: Id | None) -> None:
        frame = jsonrpc.read(data, batch=self.session.limits.in_flight)
        if isinstance(frame, Request):
            task = self._exchanges[frame.id] = self.loop.create_task(self._exchange(frame, data))
            task.add_done_callback(lambda _: self._exchanges.pop(frame.id, None))
        elif isinstance(frame, Notification) and frame.method == "notifications/cancelled":
            self._cancel(peek.cancellation(frame.params).request_id, data)
        elif isinstance(frame, Notification) and frame.method == "notifications/initialized":
            self._greeted = self._post(self._tell(data, first=True))
        else:
            self._post(self._tell(data))

    def _post(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self.loop.create_task(work)
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)
        return task

    def _cancel(self, id: Id, data: bytes) -> None:
        """The end of its stream cancels a request of the per-request era.

        Source: 2026-07-28 basic/patterns/cancellation; 2025-11-25 basic/transports, "Sending
        Messages to the Server".
        """
        if not self._modern and self._is_open:
            self._post(self._tell(data))
        if (exchange := self._exchanges.get(id)) is not None:
            exchange.cancel()

    async def _tell(self, data: bytes, *, first: bool = False) -> None:
        """Posts what has no answer."""
        try:
            async with (
                asyncio.timeout(self.session.limits.deadline),
                self._posted(data, self._ours, fresh=first) as answer,
            ):
                if not answer.ok:
                    raise answer.error("a message without an answer")
        except (SessionError, TimeoutError) as error:
            why = str(error) or "no answer in time"
            log.warning("the server has not taken a message: %s", why)

    async def _exchange(self, request: Request, data: bytes) -> None:
        """Posts a request, and takes what comes of it."""
        opens = request.method in ("initialize", "server/discover")
        try:
            async with self._posted(data, lambda: self._of(request), fresh=opens) as answer:
                if answer.ok:
                    await self._take_answer(request, answer)
                else:
                    await self._take_error(request, data, answer)
            if request.id in self.session.pending and self._known.way != "HTTP+SSE":
                raise BadAnswer(f"{request.method}: the server has ended without an answer")
        except SessionError as error:
            self._fail(request, error)

    @asynccontextmanager
    async def _posted(
        self, data: bytes, headers: Callable[[], Mapping[str, str]], *, fresh: bool
    ) -> AsyncGenerator[HttpResponse]:
        """The answer; `fresh` is a message that no session goes before.

        One that the server did not take because it has forgotten the session is posted once more.
        """
        for lives in (1, 0):
            if self._greeted is not None and not fresh:
                await asyncio.wait((self._greeted,))
            session_id = self._session_id
            async with self._http.ask("POST", self._url, {**_BOTH, **headers()}, data) as answer:
                if answer.status != 404 or fresh or not (session_id and lives):
                    yield answer
                    return
            await self._renew(session_id)

    def _of(self, request: Request) -> Mapping[str, str]:
        """The headers of a request."""
        if request.method == "initialize":
            return {}
        if request.method == "server/discover" or self._modern:
            return mirrored(request, self._known.tools.marks)
        return self._ours()

    def _ours(self) -> dict[str, str]:
        """The headers of all that comes after a handshake."""
        headers = {_SESSION: self._session_id} if self._session_id else {}
        agreed = self.session.agreed
        if agreed is not None and agreed.crossing.revision.name in _VERSIONED:
            headers["MCP-Protocol-Version"] = agreed.crossing.revision.name
        return headers

    # ---- what is answered

    def _settle(self, sent: Sent, settle: Callable[[asyncio.Future[Any]], None]) -> None:
        """An answer may come on another stream: then that of the request itself has little time."""
        super()._settle(sent, settle)
        exchange = self._exchanges.get(sent.id)
        if exchange is not None and exchange is not asyncio.current_task():
            self.loop.call_later(self.session.limits.close_wait, exchange.cancel)

    async def _take_answer(self, request: Request, answer: HttpResponse) -> None:
        if self._known.way == "HTTP+SSE":
            return
        if request.method == "initialize":
            self._session_id = _session_id(answer)
        if answer.kind == JSON:
            await self._take(await answer.body())
        elif answer.kind == EVENT_STREAM:
            await self._follow(request, answer)
        else:
            what = f"of type {answer.kind[:80]!r}" if answer.kind else "without a type"
            raise BadAnswer(f"{request.method}: an answer {what}, HTTP {answer.status}")

    async def _take_error(self, request: Request, data: bytes, answer: HttpResponse) -> None:
        """An error of the protocol in the body counts, whatever id it has."""
        body = await answer.body()
        frame = jsonrpc.read(body)
        if self._may_be_old(request, answer, frame) and await self._is_old():
            await self._exchange(request, data)
        elif isinstance(frame, ErrorResponse):
            if self._trace is not None:
                self._trace("received", body)
            self.heed(self.session.refused(request.id, frame, self.loop.time()))
        else:
            raise answer.error(request.method)

    def _may_be_old(self, request: Request, answer: HttpResponse, frame: Frame) -> bool:
        """Whether a server of HTTP+SSE may answer so."""
        first = request.method == "initialize" and self._known.way is None
        modern = isinstance(frame, ErrorResponse) and frame.code in MODERN_ERRORS
        return first and not modern and answer.status in _MAYBE_OLD

    async def _take(self, message: bytes) -> None:
        """Returns when there is room for what the next message may have us post."""
        self.heed(self.session.take(message, self.loop.time()))
        while len(self._posts) >= self.session.limits.posts:
            await asyncio.wait(self._posts, return_when=asyncio.FIRST_COMPLETED)

    def _fail(self, request: Request, error: SessionError) -> None:
        is_old = isinstance(error, BadAnswer) or (
            isinstance(error, BadStatus) and error.status not in ANY_ERA
        )
        self.heed(self.session.failed(request.id, error, self.loop.time(), is_old=is_old))

    # ---- streams

    @asynccontextmanager
    async def _get(self, headers: Mapping[str, str]) -> AsyncGenerator[HttpResponse]:
        told = {**STREAM, **self._ours(), **headers}
        async with self._http.ask("GET", self._url, told) as answer:
            yield answer

    def _new_stream(self) -> EventStream:
        return EventStream(self._get, self._take, self.session.limits, self._draw)

    async def _follow(self, request: Request, answer: HttpResponse) -> None:
        """Until the request is answered, in the handshake era also where the stream breaks."""
        resumes = not self._modern and request.method != "server/discover"
        try:
            await self._new_stream().follow(
                answer, lambda: request.id not in self.session.pending, resumes=resumes
            )
        except Disconnected as error:
            raise Disconnected(f"{request.method}: {error}") from error


def _session_id(answer: HttpResponse) -> str:
    """Empty for none. Raises BadAnswer for what is no id."""
    found = answer.headers.get(_SESSION, "")
    if not all("\x21" <= character <= "\x7e" for character in found):
        raise BadAnswer(f"a session id with other characters than visible ASCII: {found[:80]!r}")
    return found
