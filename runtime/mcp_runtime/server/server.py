"""A server: what it offers, by decorators, and the one call that serves it.

    server = Server("weather", "1.0.0")

    @server.tool
    async def forecast(city: str, days: int = 1) -> str:
        "What the weather will be."
        return ...

    server.run()

Handlers are written once, against the newest revision; every older one is served too.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from mcp_runtime.core import error_codes
from mcp_runtime.core.negotiation import ServerOffer
from mcp_runtime.core.param_headers import ParamHeaders
from mcp_runtime.core.request_state import KeyRing, StateSealer
from mcp_runtime.errors import RpcError
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.broadcast import ChangeBroadcaster
from mcp_runtime.server.connection import ServerConnection, ServerWireConnection
from mcp_runtime.server.context import Context
from mcp_runtime.server.decorators import Decorators
from mcp_runtime.server.lifespan import Lifespan
from mcp_runtime.server.methods import ProtocolMethods, around
from mcp_runtime.server.registry import Features, Kind, listed, or_unset
from mcp_runtime.shared.connection import Trace
from mcp_runtime.shared.meta_names import require_extensions
from mcp_runtime.shared.uri_template import is_uri
from mcp_runtime.stores import Bus
from mcp_runtime.transports.wire import Wire

if TYPE_CHECKING:
    from mcp_runtime.server.http.app import HttpApp

__all__ = ["Server"]


class Server(Decorators):
    """What is registered here is offered to every client.

    `revisions` are those that are spoken. `keys` seal what travels through clients: give the same
    to all processes that serve one another's clients; without, each process draws its own.
    `offers` are kinds of features that come only later. `ttl_ms` and `cache_scope` tell clients how
    long they may keep lists, and whether they may share them.

    `ping_every` is in seconds: clients on streams that do not answer are given up. `bus` brings
    changes to the clients of other processes, and theirs to the clients of this one.

    `lifespan(server)` is entered before the first client is served, and left after the last; what
    it yields is `Context.lifespan`.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Sequence[t.Icon] | None = None,
        revisions: Sequence[str] = ALL,
        limits: Limits = DEFAULT,
        keys: Sequence[bytes] | StateSealer | None = None,
        offers: Collection[Kind] = (),
        extensions: Mapping[str, Mapping[str, Any]] | None = None,
        ttl_ms: int = 0,
        cache_scope: Literal["public", "private"] = "private",
        lifespan: Callable[[Server], AbstractAsyncContextManager[Any]] | None = None,
        ping_every: float | None = None,
        bus: Bus | None = None,
    ) -> None:
        if ttl_ms < 0:
            raise ValueError(f"ttl_ms is no less than 0, not {ttl_ms}")
        require_extensions(extensions or ())
        features = Features(offers)
        hints = {"ttl_ms": ttl_ms, "cache_scope": cache_scope}
        self._handling: Final = ProtocolMethods(features, limits, hints)
        super().__init__(features, self._handling.methods, limits)
        self.info = t.Implementation(
            name=name,
            version=version,
            title=or_unset(title),
            description=or_unset(description),
            website_url=or_unset(website_url),
            icons=listed(icons),
        )
        self.state: Any = None
        self.sealer = _sealer(keys)
        self.ping_every = ping_every
        self._telling: Final = ChangeBroadcaster(bus)
        self.connections: Final = self._telling.connections
        self._lifespan = lifespan
        self._life: Lifespan | None = None
        self._about: Final = ServerOffer(
            info=self.info,
            revisions=tuple(revisions),
            capabilities=features.capabilities(or_unset(extensions)),
            instructions=or_unset(instructions),
            hints=hints,
            watchable=self._watchable,
        )
        self._offer: ServerOffer | None = self._about

    # ---- what is offered

    def offer(self) -> ServerOffer:
        """What the server says of itself now."""
        if self._offer is None:
            about, own = self._about, self._handling.methods
            self._offer = replace(
                about,
                capabilities=self.features.capabilities(about.capabilities.extensions),
                methods=frozenset(self._handlers.keys() - own.keys()),
            )
        return self._offer

    def _watchable(self, uri: str) -> bool:
        """Whether there is such a resource, as far as it is known here which there are."""
        method = "resources/read"
        if self._handlers[method] is not self._handling.methods[method]:
            return is_uri(uri)
        return self.features.knows(uri)

    def _changed(self, *lists: str) -> None:
        self._offer = None
        for what in lists:
            self._telling.changed(what)

    def resource_updated(self, uri: str) -> None:
        """Tells those who watch a resource that it has changed. Call it on the event loop."""
        self._telling.updated(uri)

    def mirrored(self, name: object) -> ParamHeaders:
        """The headers that repeat arguments of a tool, with the paths of those."""
        tool = self.features.tools.get(name) if isinstance(name, str) else None
        return {} if tool is None else tool.mirrored

    # ---- requests

    async def handle(self, method: str, params: Any, ctx: Context) -> Any:
        """The result of a request. Raises RpcError, and what the handler raises."""
        handler = self._handlers.get(method)
        if handler is None:
            raise RpcError(error_codes.METHOD_NOT_FOUND, f"Method not found: {method[:200]}")
        for middleware in reversed(self._middleware):
            handler = around(middleware, method, handler)
        return await handler(params, ctx)

    def notified(self, method: str, params: Any, connection: ServerConnection) -> None:
        for function in self._on_notification.get(method, ()):
            found = function(params, connection)
            if asyncio.iscoroutine(found):
                connection.spawn(found)

    async def read(
        self, uri: str, ctx: Context
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Raises RpcError for a URI that is none of this server's."""
        return await self._handling.read(uri, ctx)

    # ---- serving

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """While the server's `lifespan` is entered: once, for all who are served at one time."""
        if self._lifespan is None and self._telling.bus is None:
            yield
            return
        if self._life is None:
            self._life = Lifespan(self._alive())
        life = self._life
        try:
            self.state = await life.enter()
            yield
        finally:
            if await life.leave():
                self._life = None

    @asynccontextmanager
    async def _alive(self) -> AsyncGenerator[Any]:
        async with self._telling.hearing():
            if self._lifespan is None:
                yield None
            else:
                async with self._lifespan(self) as state:
                    yield state

    async def serve(self, wire: Wire, *, trace: Trace | None = None) -> None:
        """Serves one client on a wire, until it is gone."""
        await ServerWireConnection(self, trace=trace).serve(wire)

    async def run_stdio(self, *, trace: Trace | None = None) -> None:
        """Serves standard input and output until the input ends."""
        from mcp_runtime.transports.stdio import own_pipes

        async with self.running(), own_pipes(self.limits) as wire:
            await self.serve(wire, trace=trace)

    def asgi(self, **options: Any) -> HttpApp:
        """An ASGI 3 application that serves every era; for `options` see `HttpApp`."""
        from mcp_runtime.server.http.app import HttpApp

        return HttpApp(self, **options)

    def run(
        self,
        *,
        http: str | None = None,
        started: Callable[[str], object] = lambda url: None,
        trace: Trace | None = None,
        **options: Any,
    ) -> None:
        """Serves until the input ends, or the process is interrupted.

        On standard input and output, or on `http`, such as "127.0.0.1:8000"; then `options` are
        those of `asgi`, and `started` is called with the URL when it is served. Raises NotInstalled
        without the extra `http`, and ValueError for an address that is none.
        """
        with contextlib.suppress(KeyboardInterrupt):
            if http is None:
                asyncio.run(self.run_stdio(trace=trace))
            else:
                from mcp_runtime.server.http.uvicorn import serve

                asyncio.run(serve(self.asgi(trace=trace, **options), http, started))


def _sealer(keys: Sequence[bytes] | StateSealer | None) -> StateSealer:
    if keys is None:
        return KeyRing([secrets.token_bytes(32)])
    return KeyRing(keys) if isinstance(keys, Sequence) else keys
