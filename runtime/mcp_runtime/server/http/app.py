"""A server as an ASGI 3 application: every era at one endpoint, and HTTP+SSE on two routes.

    app = server.asgi()                      # serve it by any ASGI server, or mount it
    Starlette(routes=[Mount("/tools", app=server.asgi(path="/"))])

Source: the pages on transports of every revision.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import parse_qs

from mcp_runtime.core import http_rules, sse
from mcp_runtime.core.lifecycle import State
from mcp_runtime.core.rate_limit import Bucket
from mcp_runtime.server.http.deadline import Deadline
from mcp_runtime.server.http.event_response import EventResponse
from mcp_runtime.server.http.outbox import Outbox
from mcp_runtime.server.http.request import (
    ClientGone,
    Denied,
    HttpRequest,
    Receive,
    Scope,
    Send,
    plain,
)
from mcp_runtime.server.http.session_table import SessionTable, new_id, retry_after
from mcp_runtime.server.http.sessions import HttpSession, LegacySseSession, RequestConnection
from mcp_runtime.stores import EventStore, NoSuchEvent, SessionStore

if TYPE_CHECKING:
    from mcp_runtime.server.server import Server
    from mcp_runtime.shared.connection import Trace

__all__ = ["HttpApp", "admitted"]

Principal: TypeAlias = Callable[[Scope], str]
_Handler: TypeAlias = Callable[[HttpRequest], Awaitable[EventResponse | None]]

_ENV_HOSTS: Final = "MCP_ALLOWED_HOSTS"
_ENV_ORIGINS: Final = "MCP_ALLOWED_ORIGINS"
_SESSION: Final = "mcp-session-id"
_JSON: Final = (b"content-type", b"application/json")
_LAST_WORDS: Final = 1.0
_GLANCE: Final = 0.005


class HttpApp:
    """`path` is the endpoint; `sse` and `messages` are the routes of HTTP+SSE, None for neither.

    `hosts` and `origins` are who may be named by the headers Host and Origin, beside those of the
    environment (MCP_ALLOWED_HOSTS, MCP_ALLOWED_ORIGINS, separated by commas); without any the
    loopback names are. `principal` tells who asks, from the ASGI scope: a session belongs to who
    began it. `forwarded` takes the host from `X-Forwarded-Host`, for a proxy that sets it.

    `events` and `sessions` are stores: given the same ones, several processes go on with each
    other's sessions and streams. Without, this one keeps its own. What a handler asks of a client
    must still be answered where the handler runs.
    """

    def __init__(
        self,
        server: Server,
        *,
        path: str = "/mcp",
        sse: str | None = "/sse",
        messages: str = "/messages",
        health: str | None = None,
        hosts: Iterable[str] | None = None,
        origins: Iterable[str] = (),
        forwarded: bool = False,
        principal: Principal | None = None,
        events: EventStore | None = None,
        sessions: SessionStore | None = None,
        trace: Trace | None = None,
    ) -> None:
        self._hosts = admitted(hosts or (), origins)
        self._server = server
        self._limits = server.limits
        self._forwarded = forwarded
        self._principal: Principal = principal or _nobody
        self._trace = trace
        self._messages = messages
        self.path: Final = path
        routes: dict[tuple[str, str], _Handler] = {("POST", path): self._post}
        if server.offer().handshake:
            routes |= {("GET", path): self._get, ("DELETE", path): self._delete}
        if server.offer().handshake and sse is not None:
            routes |= {("GET", sse): self._open_sse, ("POST", messages): self._post_message}
        if health is not None:
            routes[("GET", health)] = self._health
        self._routes = {(method, plain(path)): found for (method, path), found in routes.items()}
        self.sse_sessions: dict[str, LegacySseSession] = {}
        self._table = SessionTable(
            server, events=events, store=sessions, others=self.sse_sessions, trace=trace
        )
        self.sessions = self._table.open
        self._exchanges: set[RequestConnection] = set()
        self._rates: dict[str, Bucket] = {}
        self._busy = 0
        self._start()

    def _start(self) -> None:
        """What belongs to one loop, and to one life; the next begins without it."""
        self._bodies = Deadline(self._limits.body_seconds)
        self._entered: AsyncExitStack | None = None
        self._entering = asyncio.Lock()
        self._draining = False

    # ---- ASGI

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise NotImplementedError(f"no {scope['type']} here")
        self._busy += 1
        try:
            if self._entered is None:
                await self._enter()
            if (sending := await self._answer(HttpRequest(scope, receive, send))) is not None:
                await sending.run()
        except ClientGone:
            pass
        finally:
            self._busy -= 1

    async def _answer(self, call: HttpRequest) -> EventResponse | None:
        """Replies, or makes the stream that is the response, so that nothing waits beside it."""
        try:
            return await self._route(call)
        except Denied as denied:
            await call.reply(denied.status, denied.body, (_JSON, *denied.headers))
            return None

    async def _route(self, call: HttpRequest) -> EventResponse | None:
        handler = self._routes.get((call.method, call.path))
        if handler is None:
            raise self._nowhere(call)
        if handler != self._health:
            self._require_host(call)
        if self._draining:
            raise Denied(503, "the server is going down", headers=retry_after(1))
        return await handler(call)

    def _nowhere(self, call: HttpRequest) -> Denied:
        allowed = sorted(method for method, path in self._routes if path == call.path)
        if allowed:
            allow = [(b"allow", ", ".join(allowed).encode())]
            return Denied(405, f"{call.method} has no meaning here", headers=allow)
        return Denied(404, "there is nothing at this path")

    def _require_host(self, call: HttpRequest) -> None:
        """Source: 2025-11-25 basic/transports, "Security Warning"."""
        host = call.headers.get("host")
        if self._forwarded:
            host = call.headers.get("x-forwarded-host", host)
        if not self._hosts.admits_host(host):
            how = f"`hosts` of asgi(), {_ENV_HOSTS}, or --allow-host"
            raise Denied(403, f"Host {(host or '')[:200]!r} is not allowed; to allow it: {how}")
        origin = call.headers.get("origin")
        if not self._hosts.admits_origin(origin):
            how = f"`origins` of asgi(), {_ENV_ORIGINS}, or --allow-origin"
            raise Denied(403, f"Origin {(origin or '')[:200]!r} is not allowed; to allow it: {how}")

    # ---- POST

    async def _post(self, call: HttpRequest) -> EventResponse | None:
        _require_types(call)
        body = await call.body(self._limits.line_bytes, self._bodies)
        if not self._server.offer().handshake or http_rules.is_per_request(call.headers, body):
            return await self._exchange(call, body)
        return await self._post_in_session(call, body)

    async def _exchange(self, call: HttpRequest, body: bytes) -> EventResponse | None:
        """Source: 2026-07-28 basic/transports/streamable-http, "Sending Messages"."""
        if len(self._exchanges) >= self._limits.sessions:
            why = f"{self._limits.sessions} requests are open (Limits.sessions)"
            raise Denied(503, why, headers=retry_after(1))
        exchange = RequestConnection(
            self._server,
            call.headers,
            self._principal(call.scope),
            among=self._exchanges,
            rates=self._rates,
            trace=self._trace,
        )
        exchange.take(body)
        sending = None
        try:
            sending = await self._answered(call, exchange)
        finally:
            if sending is None:
                exchange.close()
        return sending

    async def _answered(
        self, call: HttpRequest, exchange: RequestConnection
    ) -> EventResponse | None:
        stream, at_once = exchange.stream, exchange.stream.finished
        if not stream.has_news and not exchange.session.running:
            await call.reply(202, b"", ())
            return None
        await _watched(call, stream, self._limits.keep_alive)
        if (only := stream.alone) is not None:
            await call.reply(http_rules.status(only, at_once), only, (_JSON,))
            return None
        return self._sending(call, exchange, stream)

    async def _post_in_session(self, call: HttpRequest, body: bytes) -> EventResponse | None:
        """Source: 2025-11-25 basic/transports, "Sending Messages to the Server"."""
        self._require_version(call)
        if _SESSION not in call.headers:
            await self._begin(call, body)
            return None
        session = await self._session(call)
        stream = session.take(body)
        await self._table.keep(session)
        if stream.is_over:
            await call.reply(202, b"", ())
            return None
        session.responding()
        try:
            await stream.news(self._limits.keep_alive)
            if (only := stream.alone) is not None:
                session.forget(stream)
                await call.reply(200, only, (_JSON,))
                return None
            return self._resumable(call, session, stream, stream.attach())
        finally:
            session.left()

    async def _begin(self, call: HttpRequest, body: bytes) -> None:
        """Source: 2025-11-25 basic/transports, "Session Management"."""
        session = self._table.new(self._principal(call.scope))
        if not http_rules.initializes(body):
            session.read(body)
            raise Denied(400, "a request without Mcp-Session-Id begins a session by `initialize`")
        answer = session.take(body).alone or b""
        if session.session.state is State.NEW:
            raise Denied(400, "the session was not initialized", answer)
        await self._table.begin(session, body)
        await call.reply(200, answer, (_JSON, (b"mcp-session-id", session.id.encode())))

    def _require_version(self, call: HttpRequest) -> None:
        """Source: 2025-11-25 basic/transports, "Protocol Version Header"."""
        version = call.headers.get(http_rules.VERSION)
        offer = self._server.offer()
        if version in offer.per_request:
            allow = [(b"allow", b"POST")]
            raise Denied(405, f"{call.method} has no meaning in {version}", headers=allow)
        if version is not None and version not in offer.handshake:
            spoken = ", ".join(offer.newest_first)
            raise Denied(400, f"MCP-Protocol-Version {version[:80]!r} is not among {spoken}")

    async def _session(self, call: HttpRequest) -> HttpSession:
        """That the request names. Another's session is no session."""
        if _SESSION not in call.headers:
            raise Denied(400, "Mcp-Session-Id is missing")
        found = await self._table.find(call.headers[_SESSION])
        if found is None or found.principal != self._principal(call.scope):
            raise Denied(404, "there is no such session")
        found.used = asyncio.get_running_loop().time()
        return found

    # ---- GET and DELETE

    async def _get(self, call: HttpRequest) -> EventResponse | None:
        """Source: 2025-11-25 basic/transports, "Listening for Messages from the Server"."""
        if not http_rules.accepts(call.headers.get("accept"), http_rules.EVENT_STREAM):
            raise Denied(406, f"a client of this route accepts {http_rules.EVENT_STREAM}")
        self._require_version(call)
        session = await self._session(call)
        if (last := call.headers.get("last-event-id")) is not None:
            return await self._resume(call, session, last)
        if session.standalone.reader:
            raise Denied(409, "the session has a stream of that kind already")
        return self._resumable(call, session, session.standalone, session.standalone.attach())

    async def _resume(self, call: HttpRequest, session: HttpSession, last: str) -> EventResponse:
        """Source: 2025-11-25 basic/transports, "Resumability and Redelivery"."""
        session.responding()
        try:
            name, _ = await self._table.events.after(session.id, last)
            stream = session.stream(name)
            reader = stream.attach()
            missed = await self._missed(session, stream, reader, last)
            return self._resumable(call, session, stream, reader, missed)
        except NoSuchEvent:
            raise Denied(400, f"there is no event {last[:80]!r} any more") from None
        finally:
            session.left()

    async def _missed(
        self, session: HttpSession, stream: Outbox, reader: int, last: str
    ) -> Sequence[tuple[str, bytes]]:
        """Ids and messages. Raises NoSuchEvent; then the stream is not read."""
        try:
            async with stream.storing:  # what the reader before has taken is stored then
                _, missed = await self._table.events.after(session.id, last)
        except BaseException:
            stream.leave(reader)
            raise
        return missed

    async def _delete(self, call: HttpRequest) -> None:
        self._require_version(call)
        await self._table.end(await self._session(call))
        await call.reply(204, b"", ())

    # ---- streams

    def _sending(
        self,
        call: HttpRequest,
        owner: RequestConnection | LegacySseSession,
        stream: Outbox,
        *first: bytes,
    ) -> EventResponse:
        reader = stream.attach()
        return EventResponse(
            call, owner, stream, reader, keep_alive=self._limits.keep_alive, first=first
        )

    def _resumable(
        self,
        call: HttpRequest,
        session: HttpSession,
        stream: Outbox,
        reader: int,
        missed: Iterable[tuple[str, bytes]] = (),
    ) -> EventResponse:
        """Sends first what that client has missed."""
        session.responding()
        return EventResponse(
            call,
            session,
            stream,
            reader,
            keep_alive=self._limits.keep_alive,
            first=[sse.encode(sse.Event(id=id, data=told)) for id, told in missed if told],
            primes=session.primes and not missed,
        )

    # ---- HTTP+SSE

    async def _open_sse(self, call: HttpRequest) -> EventResponse:
        """Source: 2024-11-05 basic/transports, "HTTP with SSE"."""
        self._table.require_room()
        session = LegacySseSession(
            self._server,
            new_id(),
            self._principal(call.scope),
            among=self.sse_sessions,
            trace=self._trace,
        )
        root = call.scope.get("root_path", "").rstrip("/")
        place = f"{root}{self._messages}?session_id={session.id}"
        endpoint = sse.encode(sse.Event(name="endpoint", data=place.encode()))
        return self._sending(call, session, session.stream, endpoint)

    async def _post_message(self, call: HttpRequest) -> None:
        if http_rules.media_type(call.headers.get("content-type")) != http_rules.JSON:
            raise Denied(415, f"a message is {http_rules.JSON}")
        query = parse_qs(call.scope.get("query_string", b"").decode("latin-1"))
        session = self.sse_sessions.get(query.get("session_id", [""])[0])
        if session is None or session.principal != self._principal(call.scope):
            raise Denied(404, "there is no such session")
        body = await call.body(self._limits.line_bytes, self._bodies)
        session.take(body)
        await call.reply(202, b"Accepted", ((b"content-type", b"text/plain"),))

    async def _health(self, call: HttpRequest) -> None:
        await call.reply(200, b'{"status":"ok"}', (_JSON,))

    # ---- life

    async def _enter(self) -> None:
        """The server's lifespan, at the first request where nobody told us to start."""
        async with self._entering:
            if self._entered is None:
                stack = AsyncExitStack()
                await stack.enter_async_context(self._server.running())
                self._entered = stack

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        if self._draining:
            self._start()
        try:
            await self._enter()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.drain()
        await send({"type": "lifespan.shutdown.complete"})

    async def drain(self) -> None:
        """Ends all streams and sessions in good order, and then leaves the server's lifespan.

        New requests are answered 503. What is worked on has `Limits.drain_wait` seconds to be
        answered, then it is cancelled, and answered by an error.
        """
        self._draining = True
        for one in self._connections():
            one.wind_up()
        await self._until_idle(self._limits.drain_wait)
        for one in self._connections():
            one.cut_off()
        await self._table.leave()
        for one in self._connections():
            one.close()
        await self._until_idle(_LAST_WORDS)
        if self._entered is not None:
            await self._entered.aclose()

    def _connections(self) -> list[RequestConnection | HttpSession | LegacySseSession]:
        return [*self._exchanges, *self.sessions.values(), *self.sse_sessions.values()]

    async def _until_idle(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._busy:
                    await asyncio.sleep(_GLANCE)


# ---- who may ask


def admitted(hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> http_rules.Hosts:
    """Those and the environment's; without any host the loopback names. Raises ValueError."""
    named = [*hosts, *_listed(_ENV_HOSTS)]
    return http_rules.Hosts(named or http_rules.LOOPBACK, [*origins, *_listed(_ENV_ORIGINS)])


def _listed(name: str) -> list[str]:
    return [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]


# ---- streams by themselves


async def _watched(call: HttpRequest, stream: Outbox, seconds: float) -> None:
    """Returns when there is news, or after that time. Raises Gone if the client goes first."""
    if await stream.is_quick():
        return
    news = asyncio.ensure_future(stream.news(seconds))
    gone = asyncio.ensure_future(call.gone())
    try:
        await asyncio.wait({news, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not news.done():
            raise ClientGone
    finally:
        news.cancel()
        gone.cancel()


# ---- what a request is


def _require_types(call: HttpRequest) -> None:
    """Raises Denied. Source: 2025-11-25 basic/transports, "Sending Messages to the Server"."""
    if http_rules.media_type(call.headers.get("content-type")) != http_rules.JSON:
        raise Denied(415, f"a message is {http_rules.JSON}")
    if not _accepts_both(call.headers.get("accept")):
        raise Denied(406, f"a client accepts both {http_rules.JSON} and {http_rules.EVENT_STREAM}")


@lru_cache(64)
def _accepts_both(accept: str | None) -> bool:
    return http_rules.accepts(accept, http_rules.JSON) and http_rules.accepts(
        accept, http_rules.EVENT_STREAM
    )


def _nobody(scope: Scope) -> str:
    return ""
