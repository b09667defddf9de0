"""How a client reaches a server of this process, or one that it starts.

Each time a client is entered, or its server is gone, it opens a connection anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol

from mcp_runtime.client.connection import ClientConnection, ClientWireConnection

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client
    from mcp_runtime.server.server import Server

__all__ = ["TransportFactory", "child", "in_memory"]


class TransportFactory(Protocol):
    """Reaches a server: the connection, which lives as long as what it entered on `stack`."""

    async def __call__(self, stack: AsyncExitStack, client: Client) -> ClientConnection: ...


def in_memory(server: Server) -> TransportFactory:
    """The server in this process, through bytes."""

    async def open(stack: AsyncExitStack, client: Client) -> ClientConnection:
        from mcp_runtime.transports.memory import pair

        ours, theirs = pair(client.limits)
        await stack.enter_async_context(server.running())
        served = asyncio.create_task(server.serve(theirs))

        async def close() -> None:
            await ours.close()
            await served

        stack.push_async_callback(close)
        return ClientWireConnection(client, ours)

    return open


def child(
    command: Sequence[str], *, env: Mapping[str, str] | None, cwd: str | None, stderr: Any
) -> TransportFactory:
    """A child process, which is spoken to through its standard input and output."""

    async def open(stack: AsyncExitStack, client: Client) -> ClientConnection:
        from mcp_runtime.transports.child_process import spawn

        process = await spawn(command, env=env, cwd=cwd, stderr=stderr, limits=client.limits)
        stack.push_async_callback(process.close)
        return ClientWireConnection(client, process)

    return open
