"""A client's connection: opened, opened anew where its server is gone, closed."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from mcp_runtime.errors import NotOpen

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client
    from mcp_runtime.client.connection import ClientConnection
    from mcp_runtime.client.transports import TransportFactory

__all__ = ["Reconnector"]

log: Final = logging.getLogger("mcp_runtime.client.client")


class Reconnector:
    """Of one client, which may be entered again; `restarts` is how often a server is started anew.

    `log_level` is told to each server, `ping_every` is how often a stream is pinged, in seconds.
    """

    def __init__(
        self,
        client: Client,
        opener: TransportFactory,
        *,
        restarts: int,
        ping_every: float | None,
        log_level: str | None,
    ) -> None:
        self._client = client
        self._open = opener
        self._restarts = restarts
        self._ping_every = ping_every
        self._log_level = log_level
        self._restarting = asyncio.Lock()
        self._revival: asyncio.Task[Any] | None = None
        self._stack = AsyncExitStack()
        self._connection: ClientConnection | None = None

    @property
    def connection(self) -> ClientConnection:
        """Raises NotOpen."""
        if self._connection is None:
            raise NotOpen("the client is not open: use it in `async with`")
        return self._connection

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and not self._connection.is_gone

    async def begin(self) -> None:
        """Raises Disconnected, NoCommonRevision, and what starting the server raises."""
        try:
            await self._connect()
        except BaseException:
            await self.end()
            raise

    async def _connect(self) -> None:
        self._connection = connection = await self._open(self._stack, self._client)
        connection.ping_every = self._ping_every
        connection.session.log_level = self._log_level
        await connection.open()
        await self._tell_log_level(self._log_level)

    async def _tell_log_level(self, level: str | None) -> None:
        if level is not None and "logging" in self._client.server_capabilities:
            await self._client.set_log_level(level)

    async def restore(self) -> None:
        """Tells a new session what the last one was told."""
        await self._tell_log_level(self.connection.session.log_level)
        for changes in self.connection.listening:
            if changes.wanted.resource_subscriptions is not UNSET:
                await self.connection.watch(changes, "subscribe")

    def restarts(self, connection: ClientConnection) -> bool:
        """Whether the server, which is gone, may be started anew."""
        return connection is self._connection and self._restarts > 0

    async def ensure(self) -> None:
        """Revives a server that is gone, but for who is doing just that."""
        if self.connection.is_gone and self._revival is not asyncio.current_task():
            await self.revive()

    async def revive(self) -> None:
        """Starts a server anew that is gone, as often as it may be, and listens again.

        Source: 2026-07-28 basic/transports/stdio and basic/patterns/subscriptions.
        """
        async with self._restarting:
            gone = self.connection
            if not gone.is_gone or not self.restarts(gone):
                return
            self._restarts -= 1
            log.warning("the server is gone: it is started anew")
            self._revival = asyncio.current_task()
            try:
                await self._stack.aclose()
                await self._connect()
                self.connection.listening = gone.listening
                for changes in gone.listening:
                    await self.connection.listen(changes)
            finally:
                self._revival = None

    async def end(self) -> None:
        connection, self._connection = self._connection, None
        if (revival := self._revival) is not None:
            revival.cancel()
            await asyncio.wait([revival])
        if connection is not None:
            connection.end("the client was closed")
        await self._stack.aclose()
        if connection is not None:
            await connection.finished()
