"""Serves an application with uvicorn; on shutdown, streams are ended first."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from socket import AF_INET6, socket
from types import FrameType
from typing import Any, Final, Protocol

from mcp_runtime.errors import NotInstalled
from mcp_runtime.server.http.cross_origin import cross_origin
from mcp_runtime.server.http.request import Receive, Scope, Send

__all__ = ["address", "new_loop", "serve"]

log: Final = logging.getLogger("mcp_runtime.http")


class DrainableApp(Protocol):
    """An ASGI application that can end its streams in good order."""

    path: str
    origins: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    async def drain(self) -> None: ...


def address(text: str) -> tuple[str, int]:
    """Host and port of "127.0.0.1:8000", "[::1]:8000" or ":8000". Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65_535:
        raise ValueError(f"{text!r} is not an address such as 127.0.0.1:8000")
    return host.strip("[]") or "127.0.0.1", int(port)


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop of uvloop where that is installed, else one of asyncio."""
    try:
        import uvloop
    except ModuleNotFoundError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def serve(
    app: DrainableApp, where: str | socket, started: Callable[[str], object] = lambda url: None
) -> None:
    """Serves at an address, or on a listening socket, until SIGINT or SIGTERM.

    A second signal does not wait for requests.

    Web pages of the application's `origins` may read the answers.

    `started` is called with each URL of the endpoint as soon as it is served.

    Raises NotInstalled without the extra `http`, ValueError for a malformed address, what leaving
    the server's lifespan raises, and SystemExit if the address cannot be served, after uvicorn has
    logged why.
    """
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise NotInstalled("a server over HTTP", "uvicorn", "http") from None

    class DrainingServer(uvicorn.Server):
        draining: asyncio.Task[None] | None = None

        async def startup(self, sockets: list[socket] | None = None) -> None:
            await super().startup(sockets)
            for listening in (each for one in self.servers for each in one.sockets):
                url = _url(listening, app.path)
                log.info("serving at %s", url)
                started(url)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(self._end)

        def _end(self) -> None:
            if self.draining is None:
                self.draining = loop.create_task(self._drain())
            else:
                self.should_exit = self.force_exit = True
                # From 3.12 on a listening socket is closed only when its connections are.
                for connection in list(self.server_state.connections):
                    connection.transport.abort()

        async def _drain(self) -> None:
            try:
                await app.drain()
            finally:
                self.should_exit = True

    loop = asyncio.get_running_loop()
    sockets = [where] if isinstance(where, socket) else None
    host, port = ("", 0) if isinstance(where, socket) else address(where)
    config: Any = uvicorn.Config(
        cross_origin(app, app.origins),
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=5,
    )
    server = DrainingServer(config)
    await server.serve(sockets)
    if server.draining is not None and not server.force_exit:
        await server.draining
    if not server.started:
        raise SystemExit(1)


def _url(listening: socket, path: str) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if listening.family == AF_INET6 else host}:{port}{path}"
