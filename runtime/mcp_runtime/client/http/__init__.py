"""A client's side of HTTP: each message is a request of its own, and its answer may be a stream.

    per-request era   each call stands for itself; leaving its stream cancels it
    handshake era     a session, its own stream from the server, streams that are taken up again
    HTTP+SSE          all answers come on one stream, which names where messages are posted

What a server speaks is found out as its pages say, and kept for the life of the client. A call
whose connection breaks fails with Disconnected; the next call finds the server, if it is there.
"""

from __future__ import annotations

import random
import ssl
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from mcp_runtime.client.connection import ClientConnection
from mcp_runtime.client.http.connection import HttpConnection
from mcp_runtime.client.http.exchange import ServerFacts
from mcp_runtime.client.http.http import HttpClient

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client
    from mcp_runtime.client.transports import TransportFactory

__all__ = ["HttpConnection", "opener"]


def opener(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
    proxy: str | None = None,
    draw: Callable[[], float] = random.random,
) -> TransportFactory:
    """Reaches the server of a URL; `draw` gives numbers from 0 to 1, to spread what is repeated."""
    known = ServerFacts()

    async def open(stack: AsyncExitStack, client: Client) -> ClientConnection:
        http = HttpClient(url, headers=headers or {}, tls=tls, proxy=proxy, limits=client.limits)
        connection = HttpConnection(client, http, known, draw)
        stack.push_async_callback(connection.close)
        return connection

    return open
