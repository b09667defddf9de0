"""A server of ours on a port of loopback, by uvicorn on the running loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn

from mcp_runtime import Server

__all__ = ["serving"]


@asynccontextmanager
async def serving(server: Server) -> AsyncGenerator[str]:
    """The origin."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        app = server.asgi()
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve([listening]))
        while not running.started:
            await asyncio.sleep(0.001)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            await app.drain()
            running.should_exit = True
            await task
