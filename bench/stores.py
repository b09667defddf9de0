"""Calls of a session whose events are stored, in SQLite and in Redis beside in memory."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from bench.pairs import Row
from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from mcp_runtime.stores import Store
from mcp_runtime.stores.opening import store_at

__all__ = ["stores"]

IN_FLIGHT: Final = 32
_ROUNDS: Final = 15
_CALLS: Final = 640
_HEADERS: Final = {
    "host": "localhost",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
}
_INITIALIZE: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def _server() -> Server:
    server = Server("stores", "1", keys=[bytes(32)], limits=Limits(log_rate=1e9, call_rate=1e9))

    @server.tool
    async def tell(ctx: Context) -> str:
        await ctx.log("error", "one")
        return "two"

    return server


class _Side:
    """An application in this process, asked as an ASGI server does, in one session."""

    def __init__(self, store: Store) -> None:
        self.app = _server().asgi(store=store)
        self._session = b""

    async def begin(self) -> None:
        await self.post("initialize", _INITIALIZE)
        await self.post("notifications/initialized", {}, id=None)

    async def post(self, method: str, params: Mapping[str, Any], id: int | None = 1) -> bytes:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if id is None else {**message, "id": id}).encode()
        headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
        headers.append((b"content-length", str(len(body)).encode()))
        if self._session:
            headers.append((b"mcp-session-id", self._session))
        parts, answer = [body], bytearray()

        async def receive() -> Mapping[str, Any]:
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": False}
            await asyncio.Event().wait()
            raise AssertionError

        async def send(part: Mapping[str, Any]) -> None:
            answer.extend(part.get("body", b""))
            for name, value in part.get("headers", ()):
                if name == b"mcp-session-id":
                    self._session = value

        scope = {"type": "http", "asgi": {"version": "3.0"}, "method": "POST", "path": "/mcp"}
        await self.app({**scope, "query_string": b"", "headers": headers}, receive, send)
        return bytes(answer)

    async def round(self) -> float:
        """Seconds for a call, with so many in flight."""
        left = iter(range(_CALLS))

        async def ask() -> None:
            for number in left:
                answer = await self.post("tools/call", {"name": "tell"}, id=number + 2)
                if answer.count(b"data: ") < 2 or b'"two"' not in answer:
                    raise RuntimeError(f"no answer: {answer!r}")

        began = time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(IN_FLIGHT)))
        return (time.perf_counter() - began) / _CALLS


def stores() -> Iterator[Row]:
    """A call that stores three events: what it takes, and what it takes beyond memory."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls = {"memory": "memory:", "sqlite": f"sqlite:///{Path(folder) / 'store.db'}"}
        if shutil.which("redis-server"):
            urls["redis"] = stack.enter_context(_redis())
        yield from asyncio.run(_rows(urls))


async def _rows(urls: Mapping[str, str]) -> list[Row]:
    async with AsyncExitStack() as stack:
        sides: dict[str, Any] = {}
        for name, url in urls.items():
            side = sides[name] = _Side(store_at(url))
            await side.begin()
            stack.push_async_callback(side.app.drain)
        if "redis" in urls:
            sides["commands"] = _Commands(urls["redis"])
            stack.push_async_callback(sides["commands"].close)
        rounds: dict[str, list[float]] = {name: [] for name in sides}
        for _ in range(_ROUNDS):
            for name, side in sides.items():
                rounds[name].append(await side.round())
    rows = [_beside("sqlite", rounds, 0.6)]
    if "redis" in urls:
        rows.append(_beside("redis", rounds, None))
        pairs = zip(rounds["redis"], rounds["memory"], strict=True)
        beyond = [redis - memory for redis, memory in pairs]
        alone = statistics.median(rounds["commands"])
        name = "redis beyond memory, beside three commands"
        rows.append(Row(name, statistics.median(beyond), alone, round(1 / 1.3, 2)))
    return rows


def _beside(name: str, rounds: Mapping[str, list[float]], bar: float | None) -> Row:
    ours, memory = statistics.median(rounds[name]), statistics.median(rounds["memory"])
    return Row(f"{name}, calls beside memory", ours, memory, bar)


class _Commands:
    """Three commands that store an event each, in a pipeline for each call, as many in flight."""

    def __init__(self, url: str) -> None:
        from redis.asyncio import Redis

        self._client: Any = Redis.from_url(url)

    async def close(self) -> None:
        await self._client.aclose()

    async def round(self) -> float:
        left = iter(range(_CALLS))

        async def ask() -> None:
            for _ in left:
                pipeline = self._client.pipeline(transaction=False)
                for _ in range(3):
                    pipeline.xadd("alone:events", {"data": b"x" * 100}, maxlen=1000)
                await pipeline.execute()

        began = time.perf_counter()
        await asyncio.gather(*(ask() for _ in range(IN_FLIGHT)))
        return (time.perf_counter() - began) / _CALLS


@contextmanager
def _redis() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), *options], stdout=subprocess.DEVNULL
    )
    try:
        time.sleep(0.5)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.kill()
        process.wait()
