"""`streamablehttp_client` of `mcp` 1.x."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.mcp.client.transports import Connection, no_session_id


@asynccontextmanager
async def streamablehttp_client(
    url: str,
    headers: dict[str, str] | None = None,
    timeout: Any = None,
    sse_read_timeout: Any = None,
    terminate_on_close: bool = True,
    httpx_client_factory: Any = None,
    auth: Any = None,
) -> AsyncGenerator[tuple[Connection, Connection, Callable[[], str | None]]]:
    """Connect to a URL, once a session is initialized on the streams.

    Raises NotImplementedError for `auth` of httpx: see docs/AUTH.md.
    """
    from mcp_runtime.client.http.transport import over_http

    if auth is not None:
        raise NotImplementedError(
            "auth: write Client.http(url, auth=OAuth(...)) of mcp_runtime, or give the header"
        )
    connection = Connection(
        over_http(url, headers=headers, tls=None, proxy=None, trust_env=True, auth=None)
    )
    yield connection, connection, no_session_id


streamable_http_client = streamablehttp_client

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
