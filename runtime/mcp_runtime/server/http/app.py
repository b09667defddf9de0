"""A server as an ASGI 3 application: all eras at one endpoint, and HTTP+SSE on two routes.

    app = server.asgi()                      # run it in any ASGI server, or mount it
    Starlette(routes=[Mount("/tools", app=server.asgi(path="/"))])

Source: the pages on transports of every revision.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import ref

from mcp_runtime.core.http import http_rules
from mcp_runtime.core.wire import jsonrpc
from mcp_runtime.core.wire.jsonrpc import ErrorResponse, Notification, Response
from mcp_runtime.errors import counted
from mcp_runtime.limits import Limits
from mcp_runtime.server.connection import Dispatcher
from mcp_runtime.server.http.asgi.allowed_hosts import allowed_hosts, require_allowed
from mcp_runtime.server.http.asgi.event_response import EventResponse
from mcp_runtime.server.http.asgi.request import (
    JSON,
    ClientGone,
    HttpError,
    HttpRequest,
    Receive,
    Scope,
    Send,
    plain_path,
    retry_after,
)
from mcp_runtime.server.http.asgi.service import HttpService, Principal
from mcp_runtime.server.http.asgi.streaming import StreamingConnection
from mcp_runtime.server.http.cluster.cluster import Cluster, Forwarded
from mcp_runtime.server.http.document import Published
from mcp_runtime.server.http.sessions.legacy_sse import LegacySseEndpoint
from mcp_runtime.server.http.sessions.per_request import PerRequestEndpoint
from mcp_runtime.server.http.sessions.session_endpoint import SessionEndpoint
from mcp_runtime.server.http.sessions.session_table import SessionTable, own_sessions
from mcp_runtime.server.http.sessions.shared_table import SharedTable
from mcp_runtime.shared.connection import Trace
from mcp_runtime.shared.request_headers import current_request
from mcp_runtime.shared.threads import require_asyncio
from mcp_runtime.stores import Store, StoreUnavailable, opening

if TYPE_CHECKING:
    from mcp_runtime.auth.server.bearer import BearerAuth
    from mcp_runtime.server.http.asgi.protection import Protection

log: Final = logging.getLogger("mcp_runtime.http")

_Handler: TypeAlias = Callable[[HttpRequest], Awaitable[EventResponse | None]]
_LAST_RESPONSES: Final = 1.0
"""Seconds for responses to end after their connections are closed."""
_POLL: Final = 0.005
"""Seconds between two looks at whether requests are still open."""
_REMEMBERED: Final = 64
"""How many valid combinations of POST headers are remembered."""
_SHORT: Final = 1024
"""Characters of a combination that is remembered."""


class HttpApp:
    """An ASGI application.

    `path` is the endpoint; `sse` and `messages` are the routes of HTTP+SSE, which `sse=None` turns
    off. `health` is a path where GET is answered with 200; at the path `ready` it is answered with
    503 while the store cannot be reached. `documents` are served to everyone, by path.

    `hosts` and `origins` are the values the headers Host and Origin may have, beside those of the
    environment (MCP_ALLOWED_HOSTS, MCP_ALLOWED_ORIGINS, separated by commas); without any host the
    loopback names are allowed. `forwarded` reads the host from `X-Forwarded-Host`, for a proxy that
    sets it. `principal` returns the user your authentication has found, from the ASGI scope; a
    session belongs to the principal of its first request. `auth` lets requests in only with a token
    for this server, whose subject is the principal; the server's own authentication is used by
    default.

    `store` is shared by several processes, which then continue each other's sessions and streams;
    it may be the URL of a store, such as "redis://host:6379/0" (`mcp_runtime.stores.opening`).
    Without a store this process keeps its own state.

    Raises ValueError for a path without its slash, or a path given twice.
    """

    def __init__(
        self,
        server: Dispatcher,
        *,
        path: str = "/mcp",
        sse: str | None = "/sse",
        messages: str = "/messages",
        health: str | None = None,
        ready: str | None = None,
        documents: Mapping[str, Published] | None = None,
        hosts: Iterable[str] | None = None,
        origins: Iterable[str] = (),
        forwarded: bool = False,
        principal: Principal | None = None,
        auth: BearerAuth | None = None,
        store: Store | str | None = None,
        trace: Trace | None = None,
    ) -> None:
        self.path, self.limits = path, server.limits
        self._hosts = allowed_hosts(hosts or (), origins)
        self.origins, self.hosts = self._hosts.origins, self._hosts.hosts
        self._forwarded = forwarded
        self._known: dict[tuple[str | None, ...], _Handler] = {}
        """The handlers of POSTs whose path and headers were checked."""
        self._cluster = None if store is None else self._joining(store, server.limits)
        protection = None if auth is None else _protection(server, auth, self._cluster)
        self._service = HttpService(server, principal, trace, protection)
        self._table: SessionTable[Any] = (
            own_sessions(self._service)
            if self._cluster is None
            else SharedTable(self._service, self._cluster)
        )
        self._per_request = PerRequestEndpoint(self._service)
        self._in_session = SessionEndpoint(self._service, self._table)
        self._legacy = LegacySseEndpoint(
            self._service, messages, self._cluster, self._table.make_room
        )
        self._routes = self._make_routes(path, sse, messages)
        self._public: set[str] = set()
        for probe, answer in ((health, _healthy), (ready, self._ready)):
            if probe is not None:
                self._publish(probe, {"GET": answer})
        for place, document in (documents or {}).items():
            self._publish(place, document.handlers)
        for _, each in self._routes:
            if not each.startswith("/"):
                raise ValueError(f"{each!r} is not the path of a URL: begin it with a slash")
        self.sessions: Final = self._table.open
        self.sse_sessions: Final = self._legacy.sessions
        self._busy = 0
        self._start()

    def _joining(self, store: Store | str, limits: Limits) -> Cluster:
        opened = opening.store_at(store, limits) if isinstance(store, str) else store
        return Cluster(opened, limits, self._receive_forwarded)

    def _receive_forwarded(self, message: Forwarded) -> None:
        try:
            if isinstance(self._table, SharedTable):
                self._table.receive(message)
            self._legacy.receive(message)
        except HttpError as error:
            log.warning("a forwarded message was refused: %s", error)

    def _make_routes(
        self, path: str, sse: str | None, messages: str
    ) -> dict[tuple[str, str], _Handler]:
        routes: dict[tuple[str, str], _Handler] = {("POST", path): self._post}
        self._has_sessions = bool(self._service.server.offer().handshake)
        if self._has_sessions:
            routes["GET", path] = self._in_session.get
            routes["DELETE", path] = self._in_session.delete
            if sse is not None:
                if plain_path(path) in map(plain_path, (sse, messages)):
                    raise ValueError(f"{path} is served already: HTTP+SSE needs other paths")
                routes["GET", sse] = self._legacy.open_stream
                routes["POST", messages] = self._legacy.post
        if (protection := self._service.protection) is not None:
            for place in protection.auth.metadata_paths:
                routes["GET", place] = protection.metadata
        return {(method, plain_path(path)): handler for (method, path), handler in routes.items()}

    def _publish(self, path: str, handlers: Mapping[str, _Handler]) -> None:
        """Serve a path to everyone. Raises ValueError if the path already serves something else."""
        place = plain_path(path)
        if any(place == taken for _, taken in self._routes):
            raise ValueError(f"{path} is served already: choose another path")
        self._routes |= {(method, place): handlers[method] for method in handlers}
        self._public.add(place)

    def _start(self) -> None:
        """Begin a life of the application, on the running event loop."""
        self._lifespan: AsyncExitStack | None = None
        self._loop: asyncio.AbstractEventLoop  # on which it was entered
        self._entering = asyncio.Lock()
        self._draining: asyncio.AbstractEventLoop | None = None
        """The event loop on which it shuts down, or has done so."""
        self._is_over = False

    # ---- requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._run_lifespan(scope, receive, send)
            return
        self._busy += 1
        try:
            service = self._service
            request = HttpRequest(scope, receive, send, service.limits, service.account_of)
            current_request.set(ref(request))
            try:
                if self._lifespan is None or self._loop.is_closed():
                    await self._enter_lifespan()
                handler = self._known.get(request.names)
                if handler is None or self._draining is not None:
                    handler = self._handler(request)
                if (protection := service.protection) is not None and (
                    request.path not in self._public and handler != protection.metadata
                ):
                    await protection.admit(request)
                response = await handler(request)
            except HttpError as error:
                response = None
                await self._refuse(request, error)
            except StoreUnavailable as error:
                response = None
                log.warning("%s %s is answered 503: %s", request.method, request.path, error)
                why = "the store of sessions cannot be reached"
                await self._refuse(request, HttpError(503, why, headers=retry_after(1)))
            if response is not None:
                await response.run()
        except ClientGone:
            pass
        finally:
            self._busy -= 1

    async def _refuse(self, request: HttpRequest, error: HttpError) -> None:
        """Send an error, after reading the body so the client sees the error. Raises ClientGone."""
        if error.status != HTTPStatus.REQUEST_TIMEOUT:
            await request.discard_body(self._service.limits)
        await request.refuse(error)

    def _handler(self, request: HttpRequest) -> _Handler:
        """Return the handler of a request. Raises HttpError."""
        if (handler := self._routes.get((request.method, request.path))) is None:
            raise self._not_found_error(request)
        if request.path not in self._public:
            require_allowed(self._hosts, request, forwarded=self._forwarded)
        if self._draining is None:
            return handler
        if request.method != "POST" or self._is_over:
            raise _shutting_down()
        return partial(self._help_to_end, handler)

    async def _help_to_end(self, handler: _Handler, request: HttpRequest) -> EventResponse | None:
        """Handle a response or a notification during shutdown, so a running request can end.

        Raises HttpError.
        """
        await request.read_body()
        frame = jsonrpc.read(request.content)
        if not isinstance(frame, Response | ErrorResponse | Notification):
            raise _shutting_down()
        return await handler(request)

    def _not_found_error(self, request: HttpRequest) -> HttpError:
        methods = sorted(method for method, path in self._routes if path == request.path)
        if methods:
            allow = [(b"allow", ", ".join(methods).encode())]
            return HttpError(405, f"{request.method} is not supported at this path", headers=allow)
        endpoint = request.scope.get("root_path", "").rstrip("/") + self.path
        return HttpError(404, f"there is nothing at this path; MCP is at {endpoint}")

    async def _post(self, request: HttpRequest) -> EventResponse | None:
        _require_media_types(request)
        is_short = sum(len(name or "") for name in request.names) <= _SHORT
        if is_short and len(self._known) < _REMEMBERED:
            self._known[request.names] = self._answer
        return await self._answer(request)

    async def _answer(self, request: HttpRequest) -> EventResponse | None:
        await request.read_body()
        if not self._has_sessions or http_rules.is_per_request(request.headers, request.content):
            return await self._per_request.post(request)
        return await self._in_session.post(request)

    async def _ready(self, request: HttpRequest) -> None:
        """Send status 200 if the store can be reached. Raises StoreUnavailable."""
        if self._cluster is not None:
            await self._cluster.store.leases.is_held("")  # does it answer?
        await _healthy(request)

    # ---- lifespan

    async def _enter_lifespan(self) -> None:
        """Enter the server's lifespan, at the first request if the ASGI server sends no event.

        Raises HttpError after a shutdown, until another event loop runs the application.
        """
        require_asyncio()
        loop = asyncio.get_running_loop()
        if self._draining is not None:
            if self._draining is loop:
                raise _shutting_down()
            self._start()
        elif self._lifespan is not None and self._loop.is_closed():
            self._forget_connections()
            self._start()
        async with self._entering:
            if self._lifespan is None:
                async with AsyncExitStack() as stack:
                    server = self._service.server
                    await stack.enter_async_context(server.running())
                    if (cluster := self._cluster) is not None:
                        await stack.enter_async_context(cluster.lifespan(server.sharing))
                    self._lifespan, self._loop = stack.pop_all(), loop

    def _forget_connections(self) -> None:
        """Drop the connections of an event loop that was closed without `drain()`."""
        if sessions := len(self.sessions) + len(self.sse_sessions):
            log.warning(
                "%s ended with the event loop: one event loop has to run the"
                " application; in a test, enter `with TestClient(app) as client`",
                counted(sessions, "session"),
            )
        for connection in self._connections():
            self._service.server.connections.discard(connection)
        for request in [*self._per_request.open]:
            self._per_request.remove(request)
        self.sessions.clear()
        self.sse_sessions.clear()
        self._table.stop_sweeping()

    async def _run_lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            raise NotImplementedError(f"ASGI connections of type {scope['type']} are not supported")
        await receive()
        if self._draining is not None:
            self._start()
        try:
            await self._enter_lifespan()
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            await send({"type": "lifespan.startup.failed", "message": why})
            raise
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.drain()
        await send({"type": "lifespan.shutdown.complete"})

    async def drain(self) -> None:
        """Shut down: end all streams and sessions, then leave the server's lifespan.

        New requests are answered with 503, until another event loop runs the application. Running
        requests have `Limits.drain_wait` seconds to be answered, and the client may still answer
        their questions; then they are cancelled, and answered with an error.
        """
        self._draining = asyncio.get_running_loop()
        for connection in self._connections():
            connection.stop_listening()
        await self._until_idle(self._service.limits.drain_wait)
        self._is_over = True
        for connection in self._connections():
            connection.fail_running()
        await self._table.release()
        for connection in self._connections():
            connection.close()
        await self._until_idle(_LAST_RESPONSES)
        lifespan, self._lifespan = self._lifespan, None
        if lifespan is not None:
            await lifespan.aclose()

    def _connections(self) -> list[StreamingConnection]:
        return [*self._per_request.open, *self.sessions.values(), *self.sse_sessions.values()]

    async def _until_idle(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._busy:
                    await asyncio.sleep(_POLL)


def _protection(server: Dispatcher, auth: BearerAuth, cluster: Cluster | None) -> Protection:
    """Build the protection of an application. Modules of authorization are imported only if it is
    used.
    """
    from mcp_runtime.server.http.asgi.protection import Protection

    return Protection(auth, server.tool_scopes, None if cluster is None else cluster.store.tasks)


def _shutting_down() -> HttpError:
    return HttpError(503, "the server is shutting down", headers=retry_after(1))


async def _healthy(request: HttpRequest) -> None:
    await request.reply(200, b'{"status":"ok"}', (JSON,))


def _require_media_types(request: HttpRequest) -> None:
    """Raise HttpError unless both media types are JSON's; an event stream may be missing yet.

    Source: 2025-11-25 basic/transports, "Sending Messages to the Server".
    """
    kind, accept = request.headers.get("content-type"), request.headers.get("accept")
    if http_rules.media_type(kind) != http_rules.JSON:
        raise HttpError(415, f"Content-Type must be {http_rules.JSON}")
    if not http_rules.accepts(accept, http_rules.JSON):
        raise HttpError(406, f"Accept must have {http_rules.JSON}")
