"""`sse_client` of `mcp` 1.x."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp_runtime.compat.mcp.client.streamable_http import streamablehttp_client
from mcp_runtime.compat.mcp.client.transports import Connection


@asynccontextmanager
async def sse_client(
    url: str,
    headers: dict[str, str] | None = None,
    timeout: Any = None,
    sse_read_timeout: Any = None,
    httpx_client_factory: Any = None,
    auth: Any = None,
) -> AsyncGenerator[tuple[Connection, Connection]]:
    """Connect to a URL. The client finds out which of the transports over HTTP it has."""
    async with streamablehttp_client(url, headers, auth=auth) as (read, write, _):
        yield read, write
