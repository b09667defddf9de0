"""uvicorn, made to drain the application before it ends, and to answer half-closed clients.

Such a client closes its sending side behind a request, as `nc -N` does, and looks like a client
that is gone. It therefore has a short time; uvicorn gives it none.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from socket import AF_INET6, socket
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:

    class _Base(asyncio.Protocol):
        """The common members of uvicorn's protocols, which share no type."""

        cycle: Any
        loop: asyncio.AbstractEventLoop
        scheme: str
        transport: asyncio.Transport

else:
    _Base = AutoHTTPProtocol

log: Final = logging.getLogger("mcp_runtime.http")

_HANDOVER: Final = 0.1
"""Seconds for requests to come on connections that were accepted already."""
_SAME_SIGNAL: Final = 0.5
"""Seconds within which a second signal is the first one again.

A terminal, or systemd, sends it to all processes, and `run --workers` passes it on to its workers.
"""
_CLOSE: Final = (b"connection", b"close")


class DrainingServer(uvicorn.Server):
    """The first signal drains the application; the second does not wait for requests."""

    def __init__(
        self,
        app: Any,
        where: tuple[str, int],
        path: str,
        drain: Callable[[], Awaitable[None]],
        started: Callable[[str], object],
        root_path: str,
        eof_wait: float,
    ) -> None:
        host, port = where
        options: Any = {
            "http": half_closing_protocol(eof_wait),
            "log_level": "warning",
            "access_log": False,  # its lines would be made for each request, and dropped
            "ws": "none",
            "timeout_graceful_shutdown": 5,
            "root_path": f"/{root_path}" if root_path else "",
        }
        super().__init__(uvicorn.Config(app, host=host, port=port, **options))
        self._path = path
        self._drain_app = drain
        self._on_started = started
        self._loop = asyncio.get_running_loop()
        self._draining: asyncio.Task[None] | None = None
        self._signalled = 0.0
        self.servers: list[asyncio.Server] = []  # a signal may come before there are any

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in (each for one in self.servers for each in one.sockets):
            url = _url(listening, self._path)
            log.info("serving at %s", url)
            self._on_started(url)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        if self._draining is None:
            self._signalled = time.monotonic()
            self._draining = self._loop.create_task(self._drain())
            return
        if time.monotonic() - self._signalled < _SAME_SIGNAL:
            return
        self.should_exit = self.force_exit = True
        # From 3.12 on a listening socket is closed only when its connections are.
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    async def _drain(self) -> None:
        try:
            await self._hand_over()
            await self._drain_app()
        finally:
            self._abort_unread()
            self.should_exit = True

    def _abort_unread(self) -> None:
        """End the responses left unread by their clients while the application drained."""
        for connection in [*self.server_state.connections]:
            cycle: Any = getattr(connection, "cycle", None)
            if cycle is not None and not cycle.response_complete:
                connection.transport.abort()

    async def _hand_over(self) -> None:
        """Accept no more connections: a proxy, or the kernel, leads new ones to another process.

        A request on a connection accepted before is served, and closes the connection.
        """
        self.config.encoded_headers.append(_CLOSE)  # uvicorn makes the next line anew of it
        self.server_state.default_headers += [_CLOSE]
        for listening in self.servers:
            for each in listening.sockets:
                with suppress(NotImplementedError):  # by the loop of Windows, which has no readers
                    self._loop.remove_reader(each.fileno())
        await asyncio.sleep(0)  # asyncio loses a connection that it accepted before `close`
        for listening in self.servers:
            listening.close()
        await asyncio.sleep(_HANDOVER)
        for connection in [*self.server_state.connections]:
            connection.shutdown()

    async def wait_until_drained(self) -> None:
        """Wait until the application is drained. Raises its exception, unless a second signal ended
        the wait.
        """
        if self._draining is not None and not self.force_exit:
            await self._draining


def _url(listening: socket, path: str) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if listening.family == AF_INET6 else host}:{port}{path}"


def half_closing_protocol(seconds: float) -> type[asyncio.Protocol]:
    """Return a protocol of uvicorn whose client, with its sending side closed, has `seconds` to get
    its answer.

    After this time the client counts as gone. An incomplete body ends at once, and so does TLS,
    which has no half-closed state.
    """

    class HalfClosing(_Base):
        def eof_received(self) -> bool:
            cycle = self.cycle
            if cycle is None or cycle.response_complete:
                return False
            if cycle.more_body or self.scheme == "https":
                return False
            if not getattr(self, "pipeline", None):  # of httptools
                cycle.keep_alive = False
            self.loop.call_later(seconds, self.transport.close)
            return True

    return HalfClosing
