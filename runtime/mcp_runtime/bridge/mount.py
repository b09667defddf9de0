"""Mounts a server into another one: its features are served beside the host's, with a prefix."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from msgspec import UNSET, structs

from mcp_runtime.bridge.engine import Engine
from mcp_runtime.bridge.features import feature
from mcp_runtime.bridge.hooks import Allow, Observe, Rewrite
from mcp_runtime.bridge.listing import LISTS
from mcp_runtime.bridge.names import KEYS, Kind, Names
from mcp_runtime.bridge.upstream import Target, Upstream, prefix_of
from mcp_runtime.errors import LocalError, RpcError
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.server.dispatcher import ServerDispatcher
from mcp_runtime.server.lifespan import Lifespan
from mcp_runtime.server.methods import Handler
from mcp_runtime.server.server import Server
from mcp_runtime.server.visibility import Registry
from mcp_runtime.shared.connection import Carrier
from mcp_runtime.shared.uri_template import is_uri


def mount(
    host: Server,
    prefix: str,
    source: Target,
    *,
    allow: Allow | None = None,
    rewrite: Rewrite | None = None,
    observe: Observe | None = None,
) -> None:
    """Serve the features of another server, as `Server.mount` documents."""
    if not prefix or prefix_of(prefix) != prefix:
        raise ValueError(f"{prefix!r} is no prefix: it has letters, digits, `.` and `-`")
    dispatcher = dispatcher_of(host)
    if dispatcher.connections:
        raise LocalError(f"{prefix!r} is mounted too late: the server has clients")
    upstream = Upstream.of(source)
    names = replace(upstream.names, prefix=prefix)
    _reserve(dispatcher, names)
    engine = Engine(
        {prefix: replace(upstream, names=names)},
        allow=allow,
        rewrite=rewrite,
        observe=observe,
        limits=host.limits,
        needs_one=False,
    )
    engine.serve(_Mounted(dispatcher, engine, names))
    host.on("notifications/roots/list_changed")(engine.announce_roots)
    inner = dispatcher.lifespan
    dispatcher.lifespan = Lifespan(lambda: _around(engine.running(), inner))
    own_uris = dispatcher.offer().can_subscribe

    def can_subscribe(uri: str) -> bool:
        is_ours = names.own("resource", uri) is not None
        return is_uri(uri) and engine.watching.watch(uri) if is_ours else own_uris(uri)

    dispatcher.change(can_subscribe=can_subscribe)


@asynccontextmanager
async def _around(
    engine: AbstractAsyncContextManager[None], inner: Lifespan | None
) -> AsyncGenerator[Any]:
    """Keep the engine running around the host's own lifespan, and yield its value."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(engine)
        if inner is not None:
            await stack.enter_async_context(inner)
        yield None if inner is None else inner.state


def _reserve(dispatcher: ServerDispatcher, names: Names) -> None:
    """Keep the names of a mounted server from the host's own features, now and later.

    Raises ValueError for a name that both have.
    """
    features = dispatcher.features
    registries: Mapping[Kind, Registry[Any]] = {
        "tool": features.tools,
        "prompt": features.prompts,
        "resource": features.resources,
        "template": features.resource_templates,
    }
    for kind, registry in registries.items():
        registry.reserve(names.prefix, partial(_owns, names, kind))


def _owns(names: Names, kind: Kind, key: str) -> bool:
    return names.own(kind, key) is not None


class _Mounted:
    """The facade of a mounted server: its handlers serve its own names, the host's all others."""

    def __init__(self, dispatcher: ServerDispatcher, engine: Engine, names: Names) -> None:
        self._dispatcher: Final = dispatcher
        self._engine: Final = engine
        self._names: Final = names

    def put(self, method: str, handler: Handler) -> None:
        handlers = self._dispatcher.handlers
        own = handlers[method]
        if method in LISTS:
            handlers[method] = self._list(method, own)
            return

        async def choose(params: Any, ctx: Context) -> Any:
            try:
                kind, name, _ = feature(method, params)
            except RpcError:  # a reference of another kind
                return await own(params, ctx)
            is_ours = self._names.own(kind, name) is not None
            return await (handler if is_ours else own)(params, ctx)

        handlers[method] = choose

    def _list(self, method: str, own: Handler) -> Handler:
        """Return a handler that lists the host's features, then the mounted server's."""
        of, limits = LISTS[method], self._dispatcher.limits

        async def page(params: Any, ctx: Context) -> Any:
            items: Registry[Any] = Registry(of.kind)
            first = result = await own(structs.replace(params, cursor=UNSET), ctx)
            for _ in range(limits.pages):
                for item in getattr(result, of.member):
                    items.setdefault(getattr(item, KEYS[of.kind]), item)
                if result.next_cursor is UNSET:
                    break
                result = await own(structs.replace(params, cursor=result.next_cursor), ctx)
            for item in await self._engine.listing.everything(method, ctx):
                items.setdefault(getattr(item, KEYS[of.kind]), item)
            cursor = None if params.cursor is UNSET else params.cursor
            shown, after = items.page(cursor, limits.page_size)
            return structs.replace(first, **{of.member: shown}, next_cursor=after)

        return page

    def carry_by(self, make: Callable[[Mapping[str, object]], Carrier]) -> None:
        """Do nothing: the host's middleware sees each request."""

    def declare(self, capability: str) -> None:
        self._dispatcher.features.declare(capability)
        self._dispatcher.announce_change()

    def announce(self, list_: str) -> None:
        self._dispatcher.announce_change(list_)

    def resource_updated(self, uri: str, *, principal: str | None) -> None:
        self._dispatcher.resource_updated(uri, principal)

    def is_watched(self, uri: str) -> bool:
        return self._dispatcher.is_watched(uri)

    def declare_passed(self, spoken: str, capabilities: Mapping[str, Any]) -> None:
        """Do nothing: the host's middleware sees each request."""

    def describe(self, info: t.Implementation | None, instructions: str) -> None:
        """Do nothing: the host has a name and instructions of its own."""
