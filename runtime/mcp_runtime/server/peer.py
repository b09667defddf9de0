"""Protocol of the connection to a client, as the context of its request uses it."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from typing import Any, Protocol

from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.pending import Timeout
from mcp_runtime.core.rate_limit import Bucket
from mcp_runtime.core.server_session import ServerSession
from mcp_runtime.revisions import latest as t

__all__ = ["Peer"]


class Peer(Protocol):
    """Sends messages and requests to one client."""

    loop: AbstractEventLoop
    server_session: ServerSession
    log_rate: Bucket
    principal: str
    """Whom the client acts for; empty for nobody."""
    roots: list[t.Root] | None
    """The client's roots, while the client promises to report changes and has reported none."""
    root_changes: int
    """How often the client has reported changed roots."""

    def send(self, data: bytes, about: Id | None = None, /) -> None:
        """Sends a message that belongs to the client's request `about`."""
        ...

    async def drain(self) -> None:
        """Waits until there is room to send more."""
        ...

    async def notify(self, method: str, params: Any, /) -> None: ...

    async def request(
        self, method: str, params: Any, /, *, timeout: Timeout, about: Id | None
    ) -> Any:
        """The client's result, a model. Raises LocalError or PeerError."""
        ...

    def interrupt(self, id: Id, retry: int, /) -> None:
        """Closes the response stream of a request; the client reconnects after `retry` ms."""
        ...
