"""A loopback proxy that, when a test says so, breaks a connection instead of sending a reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

__all__ = ["LossyProxy", "lossy_proxy"]


class LossyProxy:
    """It passes on all that a client sends."""

    def __init__(self, to: int) -> None:
        self.port = 0
        self.losses = 0
        """How many of the next replies are lost."""
        self._to = to
        self._connections: set[asyncio.Task[None]] = set()

    async def connected(self, client: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        server, to_server = await asyncio.open_connection("127.0.0.1", self._to)
        sending = asyncio.create_task(_send(client, to_server))
        try:
            with suppress(OSError):
                while data := await server.read(65_536):
                    if self.losses:
                        self.losses -= 1
                        break
                    to.write(data)
        finally:
            self._connections.discard(task)
            sending.cancel()
            to_server.close()
            to.close()

    async def close(self) -> None:
        for task in [*self._connections]:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


async def _send(client: asyncio.StreamReader, to_server: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await client.read(65_536):
            to_server.write(data)
    to_server.close()


@asynccontextmanager
async def lossy_proxy(to: int) -> AsyncGenerator[LossyProxy]:
    """It leads to that port of the loopback interface."""
    proxy = LossyProxy(to)
    server = await asyncio.start_server(proxy.connected, "127.0.0.1", 0)
    async with server:
        proxy.port = server.sockets[0].getsockname()[1]
        yield proxy
        await proxy.close()
