"""Protocol of the server, as its connections use it."""

from __future__ import annotations

from collections.abc import Awaitable, Collection
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from mcp_runtime.core.negotiation import ServerOffer
from mcp_runtime.core.param_headers import ParamHeaders
from mcp_runtime.core.request_state import StateSealer
from mcp_runtime.server.broadcast import ChangeListener
from mcp_runtime.server.peer import Peer, ServerView
from mcp_runtime.stores import Store

_Ctx = TypeVar("_Ctx", contravariant=True)
"""The context that handlers of this server take."""


class Dispatcher(ServerView[_Ctx], Protocol[_Ctx]):
    """What a connection needs of the server: what it offers, and handlers for what arrives."""

    sealer: StateSealer
    ping_every: float | None
    connections: set[ChangeListener]
    """Connections that get notifications of changes."""

    @property
    def reruns(self) -> Collection[str]:
        """The tools whose calls may be run again by another process."""
        ...

    def offer(self) -> ServerOffer:
        """What the server declares now."""
        ...

    def mirrored(self, name: object, /) -> ParamHeaders:
        """The headers that repeat arguments of a tool, with the paths of those arguments."""
        ...

    def scopes_of(self, name: str, /) -> Collection[str]:
        """The scopes of authorization that calling a tool needs."""
        ...

    def handle(self, method: str, params: Any, ctx: _Ctx, /) -> Awaitable[Any]:
        """The result of a request. Raises RpcError, and what the handler raises."""
        ...

    def notified(self, method: str, params: Any, connection: Peer, /) -> None:
        """Calls the handlers of a notification."""
        ...

    def sharing(self, store: Store, /) -> AbstractAsyncContextManager[object]:
        """While entered, changes are exchanged with the other processes on this store."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keeps the server's lifespan entered."""
        ...
