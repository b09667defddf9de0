"""How a client reaches the server of a URL.

Each message is a request of its own, and its answer may be a stream.

    per-request era   each call stands for itself; leaving its stream cancels it
    handshake era     a session, its own stream from the server, streams that are resumed
    HTTP+SSE          all answers come on one stream, which names where messages are posted

The revisions of a server are found out as the protocol says, and remembered while the client lives.
A call whose connection breaks fails with Disconnected; the next call tries to reach the server
again.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from mcp_runtime.client.connection import ClientConnection, ConnectionOwner
from mcp_runtime.client.http import environment
from mcp_runtime.client.http.connection import HttpConnection
from mcp_runtime.client.http.http import HttpClient, HttpSender
from mcp_runtime.client.http.server_facts import ServerFacts
from mcp_runtime.client.transports import TransportFactory

if TYPE_CHECKING:
    from mcp_runtime.auth.client.oauth import OAuth


def over_http(
    url: str,
    *,
    headers: Mapping[str, str] | None,
    tls: ssl.SSLContext | None,
    proxy: str | None,
    trust_env: bool,
    auth: OAuth | None,
) -> TransportFactory:
    """Reach the server at `url`; `auth` authorizes the client where the server asks for it.

    With `trust_env` the environment is the default of `proxy` and `tls`.
    """
    facts = ServerFacts()

    def proxy_of(place: str) -> str | None:
        return environment.proxy_for(place) if proxy is None and trust_env else proxy

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        limits = owner.settings.limits
        checks = environment.trusted() if tls is None and trust_env else tls
        http: HttpSender = HttpClient(
            url, headers=headers or {}, tls=checks, proxy=proxy_of(url), limits=limits
        )
        if auth is not None:
            from mcp_runtime.client.http.authorized import authorized

            http = authorized(http, auth, checks, proxy_of, limits, lambda: connection)
        connection = HttpConnection(owner, http, facts)
        stack.push_async_callback(connection.close)
        return connection

    return connect
