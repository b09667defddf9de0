"""The private object behind a `Server`: connections read its offer and hand it their messages.

The names of a `Server` are for people who write one; a connection, an endpoint or an extension of
this package uses the dispatcher.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from typing import Any, Final

from msgspec import structs

from mcp_runtime.core.http.header_checks import ParamHeaders
from mcp_runtime.core.session.request_state import StateSealer
from mcp_runtime.core.session.subscriptions import Change, Notice
from mcp_runtime.core.terms.capabilities import declares
from mcp_runtime.core.terms.extension import Extensions
from mcp_runtime.core.terms.negotiation import ServerOffer
from mcp_runtime.core.wire import rpc_errors
from mcp_runtime.errors import NotOffered
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import HANDLERS, first_name, parse, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.broadcast import ChangeBroadcaster, ChangeListener
from mcp_runtime.server.context import Context
from mcp_runtime.server.lifespan import Lifespan
from mcp_runtime.server.methods import Handler, Middleware, ProtocolMethods, around
from mcp_runtime.server.peer import Peer
from mcp_runtime.server.registry import Features
from mcp_runtime.server.rules import Rules, Switch
from mcp_runtime.shared.connection import Carrier, Hooks
from mcp_runtime.shared.threads import Threads
from mcp_runtime.shared.uri_template import is_uri
from mcp_runtime.stores import Store


class ServerDispatcher:
    """The offer of a server, and the handlers of its messages."""

    lifespan: Lifespan | None = None
    carrier: Carrier | None = None
    """Takes requests of clients on streams in their handlers' place, if it can; a bridge's."""
    facade: Any = None
    """The server object of another library's API, if handlers were written for one."""

    def __init__(
        self,
        protocol: ProtocolMethods,
        limits: Limits,
        sealer: StateSealer,
        *,
        ping_every: float | None = None,
        knows_clients: bool = False,
    ) -> None:
        self.limits: Final = limits
        self.protocol: Final = protocol
        self.features: Final[Features] = protocol.features
        self.sealer: Final = sealer
        self.ping_every: Final = ping_every
        self.knows_clients: Final = knows_clients
        """True if HTTP clients come with a token, which names them."""
        self.threads: Final = Threads(limits.threads)
        self.forgiven: Final[Counter[str]] = Counter()
        """How often each tolerance was used for clients, by its name."""
        self.handlers: Final[dict[str, Handler]] = dict(protocol.methods)
        self.notification_handlers: Final[dict[str, list[Callable[..., Any]]]] = {}
        self.middleware: Final[list[Middleware]] = []
        self.hooks: Final = Hooks()
        self.routes: Final[dict[str, dict[str, Any]]] = {}
        """The functions of routes beside the endpoint, by path and method."""
        self.shared_parts: Final[list[Callable[[Store], AbstractAsyncContextManager[object]]]] = []
        """Contexts that share the state of extensions with other processes, by a store."""
        self._broadcaster: Final = ChangeBroadcaster()
        self.connections: Final[set[ChangeListener]] = self._broadcaster.connections
        """Connections to notify of changes."""
        self._base: ServerOffer
        self._offer: ServerOffer | None = None

    # ---- what the server offers

    def begin(self, offer: ServerOffer) -> None:
        """Set the offer of a server that has no features yet."""
        self._base = self._offer = offer

    def change(self, **members: Any) -> None:
        """Change the server's own description, for clients that come from now on."""
        self._base = structs.replace(self._base, **members)
        self._offer = None

    def offer(self) -> ServerOffer:
        """Build the current offer: revisions, capabilities and description of the server."""
        if self._offer is None:
            own = self.protocol.methods
            self._offer = structs.replace(
                self._base,
                capabilities=self.features.capabilities(),
                methods=frozenset(self.handlers.keys() - own.keys()),
            )
        return self._offer

    @property
    def extensions(self) -> Extensions:
        return self._base.extensions

    @property
    def show_errors(self) -> bool:
        """True if clients read the text of unexpected exceptions."""
        return self.protocol.show_errors

    def can_subscribe(self, uri: str) -> bool:
        """Return True if clients may subscribe to this URI."""
        method = "resources/read"
        if self.handlers[method] is not self.protocol.methods[method]:
            return is_uri(uri)
        return self.features.knows(uri)

    def param_headers(self, name: object) -> ParamHeaders:
        """Return the headers repeating arguments of a tool, with the paths of the arguments."""
        tool = self.features.tools.get(name) if isinstance(name, str) else None
        return {} if tool is None else tool.mirrored

    @property
    def tool_scopes(self) -> Mapping[str, Collection[str]]:
        """The scopes calls need, by tool. Tools that need none are absent."""
        return self.features.scopes

    @property
    def reruns(self) -> Collection[str]:
        """The tools whose calls may be run again by another process."""
        return self.features.reruns

    def list_digests(self) -> Mapping[str, str]:
        """Digests of the lists, by name of the list."""
        return self.features.list_digests()

    # ---- changes

    def switch(self, switch: Switch) -> None:
        """Enable or disable features, as `Server.enable` documents."""
        self.announce_change(*self.features.switch(switch))

    def announce_change(self, *lists: str) -> None:
        """Build the offer anew when it is next asked for, and notify clients of changed lists."""
        self._offer = None
        for name in lists:
            self._broadcaster.broadcast(Change(list=name))

    def switch_for(self, session: Rules, switch: Switch) -> Rules:
        """Return the rules of a session with new ones. Raises ValueError for an unknown name."""
        return self.features.switch_for(session, switch)

    def lists_changed_by(self, before: Rules, after: Rules) -> list[str]:
        """Return the lists changed by other rules of a session."""
        return self.features.seen_by(after).lists_other_than(self.features.seen_by(before))

    def is_watched(self, uri: str) -> bool:
        """Return True if a client of this process has subscribed to a resource."""
        return any(each.watches(uri) for each in [*self.connections])

    def resource_updated(self, uri: str, principal: str | None = None) -> None:
        """Notify the subscribers of a changed resource; only those of `principal`, if given."""
        self._broadcaster.broadcast(Change(uri=uri, principal=principal))

    def publish(
        self,
        method: str,
        params: Any,
        member: str,
        value: str | bool,
        principal: str | None = None,
    ) -> None:
        """Send a notification to its subscribers, as `Server.publish` documents."""
        owner, core = self._base.extensions.owner(method), revision(HANDLERS).methods
        method = method if owner else first_name(method)
        if owner is None and (method not in core or core[method].kind != "notification"):
            raise ValueError(f"{method}: no notification of {HANDLERS}, nor of an extension here")
        if owner is None and not declares(self.offer().declared, core[method].capability):
            raise NotOffered(method, core[method].capability, "server")
        body = t.to_wire(params) if owner is None else parse(owner.write("params", params))
        notice = Notice(method, body, member, value)
        self._broadcaster.broadcast(Change(notice=notice, principal=principal))

    @asynccontextmanager
    async def sharing(self, store: Store) -> AsyncGenerator[None]:
        """Share changes and the state of extensions with other processes, as long as the context is
        entered.
        """
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._broadcaster.share(store.bus))
            for share in self.shared_parts:
                await stack.enter_async_context(share(store))
            yield

    # ---- requests

    def handle(self, method: str, params: Any, ctx: Context) -> Awaitable[Any]:
        """Handle a request and return its result. Raises RpcError, and the exceptions of the
        handler.
        """
        handler = self.handlers.get(method)
        if handler is None:
            raise rpc_errors.method_not_found(method)
        for middleware in reversed(self.middleware):
            handler = around(middleware, method, handler)
        ctx.params = params
        return handler(params, ctx)

    def handle_notification(self, method: str, params: Any, connection: Peer) -> None:
        """Call the handlers of a notification."""
        for function in self.notification_handlers.get(method, ()):
            work = function(params, connection)
            if asyncio.iscoroutine(work):
                connection.spawn(work)

    async def read(
        self, uri: str, ctx: Context
    ) -> list[t.TextResourceContents | t.BlobResourceContents]:
        """Return the contents of a resource. Raises RpcError if the server has no such resource."""
        return await self.protocol.read(uri, ctx)

    # ---- lifespan

    def running(self) -> AbstractAsyncContextManager[object]:
        """Return a context that keeps the server's `lifespan` entered."""
        return self.lifespan or nullcontext()

    @property
    def state(self) -> Any:
        """The value the lifespan yielded."""
        return None if self.lifespan is None else self.lifespan.state
