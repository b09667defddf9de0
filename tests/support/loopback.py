"""A uvicorn on a free loopback port, in a thread; applications are mounted and removed by path."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from threading import Thread
from typing import Any, Self

import uvicorn

from tests.support.patience import PATIENCE

__all__ = ["Loopback"]


class Loopback:
    """Serves while it is entered."""

    def __init__(self) -> None:
        self._applications: dict[str, Any] = {}
        self._names = count(1)
        # asyncio switches off Nagle's delays only where the protocol is named.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen()
        self._loop = asyncio.new_event_loop()
        config = uvicorn.Config(
            self._route,
            interface="asgi3",
            lifespan="off",
            log_level="warning",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        self._loop.run_until_complete(self._server.serve(sockets=[self._socket]))
        self._loop.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @contextmanager
    def mounted(self, application: Any) -> Iterator[str]:
        """The URL below which it is served, from its startup to its shutdown."""
        name = f"/{next(self._names)}"
        life = _Life(application)
        self._do(life.begin())
        self._applications[name] = application
        try:
            yield self.origin + name
        finally:
            del self._applications[name]
            self._do(life.end())

    def _do(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    async def _route(self, scope: Mapping[str, Any], receive: Any, send: Any) -> None:
        name = "/" + scope["path"].split("/")[1]
        application = self._applications.get(name, _nothing)
        await application({**scope, "root_path": name}, receive, send)


class _Life:
    """The lifespan of an application, as its server tells it."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def begin(self) -> None:
        self._told: asyncio.Queue[str] = asyncio.Queue()
        self._heard: asyncio.Queue[str] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}}
        self._task = asyncio.create_task(self._application(scope, self._receive, self._send))
        await self._turn("startup")

    async def end(self) -> None:
        await self._turn("shutdown")
        await self._task

    async def _turn(self, name: str) -> None:
        self._told.put_nowait(f"lifespan.{name}")
        heard = await self._heard.get()
        assert heard == f"lifespan.{name}.complete", heard

    async def _receive(self) -> Mapping[str, Any]:
        return {"type": await self._told.get()}

    async def _send(self, message: Mapping[str, Any]) -> None:
        self._heard.put_nowait(message["type"])


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b""})
