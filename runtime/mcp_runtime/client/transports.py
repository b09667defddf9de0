"""How a client reaches a server: in this process, or as a child process.

A transport opens a new connection each time the client is entered or its server is restarted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Protocol

from mcp_runtime.client.connection import (
    ClientConnection,
    ClientWireConnection,
    ConnectionOwner,
)
from mcp_runtime.transports.wire import Wire

__all__ = ["LocalServer", "TransportFactory", "child_process", "in_memory"]


class TransportFactory(Protocol):
    """Connects to a server; the connection lives as long as what is entered on `stack`."""

    async def __call__(self, stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection: ...


class LocalServer(Protocol):
    """A `Server` of this process, as far as a client needs it."""

    def running(self) -> AbstractAsyncContextManager[Any]: ...

    async def serve(self, wire: Wire) -> None: ...


def in_memory(server: LocalServer) -> TransportFactory:
    """A server in this process, through real bytes."""

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        from mcp_runtime.transports.memory import pair

        ours, theirs = pair(owner.settings.limits)
        await stack.enter_async_context(server.running())
        serving = asyncio.create_task(server.serve(theirs))

        async def close() -> None:
            await ours.close()
            await serving

        stack.push_async_callback(close)
        return ClientWireConnection(owner, ours)

    return connect


def child_process(
    command: Sequence[str], *, env: Mapping[str, str] | None, cwd: str | None, stderr: Any
) -> TransportFactory:
    """A server that is started as a child process and uses its standard input and output."""

    async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientConnection:
        from mcp_runtime.transports.child_process import spawn

        limits = owner.settings.limits
        process = await spawn(command, env=env, cwd=cwd, stderr=stderr, limits=limits)
        stack.push_async_callback(process.close)
        return ClientWireConnection(owner, process)

    return connect
