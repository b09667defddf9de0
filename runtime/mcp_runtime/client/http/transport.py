"""How a client reaches the server of a URL.

Each message is a request of its own, and its answer may be a stream.

    per-request era   each call stands for itself; leaving its stream cancels it
    handshake era     a session, its own stream from the server, streams that are resumed
    HTTP+SSE          all answers come on one stream, which names where messages are posted

What the server speaks is found out as the protocol says, and remembered while the client lives. A
call whose connection breaks fails with Disconnected; the next call tries to reach the server again.
"""

from __future__ import annotations

import random
import ssl
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from mcp_runtime.client.connection import ClientConnection, ConnectionOwner
from mcp_runtime.client.http.connection import HttpConnection
from mcp_runtime.client.http.exchange import ServerFacts
from mcp_runtime.client.http.http import HttpClient
from mcp_runtime.client.transports import TransportFactory

__all__ = ["over_http"]


def over_http(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    proxy: str | None = None,
    draw: Callable[[], float] = random.random,
) -> TransportFactory:
    """A server with a URL; `draw` gives numbers from 0 to 1, to spread what is repeated."""
    facts = ServerFacts()

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        limits = owner.settings.limits
        http = HttpClient(url, headers=headers or {}, tls=tls, proxy=proxy, limits=limits)
        connection = HttpConnection(owner, http, facts, draw)
        stack.push_async_callback(connection.close)
        return connection

    return connect
