"""Stand-in for `mcp.shared.memory`: a client connected to a server in the same process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp_runtime.client.transports import in_memory
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.mcp.client.session import ClientSession
from mcp_runtime.compat.mcp.client.transports import Connection


@asynccontextmanager
async def create_connected_server_and_client_session(
    server: Any, **options: Any
) -> AsyncGenerator[ClientSession]:
    """Yield an initialized session with a server; `options` are those of `ClientSession`."""
    low_level = getattr(server, "_mcp_server", server)
    options.pop("raise_exceptions", None)
    connection = Connection(in_memory(low_level.native))
    async with ClientSession(connection, connection, **options) as session:
        await session.initialize()
        yield session


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
