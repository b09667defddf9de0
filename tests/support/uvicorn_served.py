"""Serves an application by uvicorn on the loopback, in the event loop of the test.

On virtual time the connections are in memory: all that uvicorn and the client do is done but for
the sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

import uvicorn

from tests.support.patience import PATIENCE, until

__all__ = ["served"]


@asynccontextmanager
async def served(app: Any, *, lifespan: Literal["on", "off"] = "off") -> AsyncGenerator[str]:
    """Serve an application at the root of an origin, and yield the origin."""
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        lifespan=lifespan,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    try:
        await until(lambda: server.started)
        (listening,) = server.servers[0].sockets
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, PATIENCE)
