"""`python -m bench walk`: what one `tools/call` goes through, from its bytes to its answer.

Counts the modules of ours that are entered and the calls that are made there, a coroutine that goes
on included. One request goes before, so that nothing is made for the first time.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import Any, Final

from mcp_runtime import Server
from mcp_runtime.server.connection import ServerWireConnection
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.transports.wire import Receiver

__all__ = ["Walk", "over_http", "over_stdio", "walk"]

_RUNS: Final = 200
_CALLS: Final = 20
_REVISION: Final = "2026-07-28"
_OURS: Final = ("mcp_runtime", "mcp_wire")
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": _REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "walk", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_CALL: Final = {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": _META}
_HEADERS: Final = {
    "host": "localhost",
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": _REVISION,
    "mcp-method": "tools/call",
    "mcp-name": "add",
}


class Walk:
    """The calls of our functions, each as module and name, in their order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    @property
    def modules(self) -> int:
        return len({module for module, _ in self.calls})

    @contextmanager
    def watching(self) -> Generator[None]:
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and module.partition(".")[0] in _OURS:
            self.calls.append((module, frame.f_code.co_qualname))


def _server() -> Server:
    server = Server("walk", "1")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    return server


def _request(id: int) -> bytes:
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": _CALL}
    return json.dumps(message, separators=(",", ":")).encode()


def over_stdio() -> Walk:
    """Standard input and output of this process are pipes meanwhile."""
    walk = Walk()
    (their_in, our_out), (our_in, their_out) = os.pipe(), os.pipe()
    kept = os.dup(0), os.dup(1)
    os.dup2(our_in, 0)
    os.dup2(our_out, 1)
    try:
        asyncio.run(_on_pipes(walk, their_in, their_out))
    finally:
        for fd, before in enumerate(kept):
            os.dup2(before, fd)
        for fd in (*kept, their_in, our_in, our_out):
            os.close(fd)
    return walk


async def _on_pipes(walk: Walk, answers: int, requests: int) -> None:
    serving = asyncio.create_task(_server().run_stdio())
    await _asked(answers, requests, 1)
    with walk.watching():
        await _asked(answers, requests, 2)
    os.close(requests)
    await serving


async def _asked(answers: int, requests: int, id: int) -> None:
    loop, answer = asyncio.get_running_loop(), bytearray()
    answered: asyncio.Future[None] = loop.create_future()

    def read() -> None:
        answer.extend(os.read(answers, 65_536))
        if answer.endswith(b"\n") and not answered.done():
            answered.set_result(None)

    loop.add_reader(answers, read)
    os.write(requests, _request(id) + b"\n")
    async with asyncio.timeout(10):
        await answered
    loop.remove_reader(answers)
    assert json.loads(answer)["result"]["structuredContent"] == {"result": 3}


def over_http() -> Walk:
    """The application is asked as an ASGI server does."""
    walk = Walk()
    asyncio.run(_on_asgi(walk))
    return walk


async def _on_asgi(walk: Walk) -> None:
    app = _server().asgi()
    await _posted(app, 1)
    with walk.watching():
        await _posted(app, 2)


async def _posted(app: Callable[..., Any], id: int) -> None:
    body, answer = _request(id), bytearray()
    parts = [{"type": "http.request", "body": body}]
    gone = asyncio.Event()

    async def receive() -> Mapping[str, Any]:
        if parts:
            return parts.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        answer.extend(message.get("body", b""))

    await app(_scope(body), receive, send)
    assert json.loads(answer)["result"]["structuredContent"] == {"result": 3}


def _scope(body: bytes) -> Mapping[str, Any]:
    headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
    headers.append((b"content-length", str(len(body)).encode()))
    return {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": headers,
    }


class _Wire:
    """A wire that only counts what is written to it."""

    waiting = 0

    def __init__(self) -> None:
        self.answered = asyncio.Event()

    def start(self, receiver: Receiver) -> None:
        self.receiver = receiver

    def write(self, data: bytes) -> None:
        self.answered.set()

    async def drain(self) -> None: ...

    async def close(self) -> None: ...


async def _times() -> tuple[float, float]:
    """Microseconds of a call on a wire, and through the application; the least of many runs."""
    wire, app, body = _Wire(), _server().asgi(), _request(1)
    ServerWireConnection(dispatcher_of(_server())).attach(wire)
    scope = _scope(body)

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: Mapping[str, Any]) -> None: ...

    async def over_wire() -> None:
        wire.answered.clear()
        wire.receiver.received(body + b"\n")
        await wire.answered.wait()

    async def through_app() -> None:
        await app(scope, receive, send)

    runs = [[await _time(call) for call in (over_wire, through_app)] for _ in range(_RUNS)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


async def _time(call: Callable[[], Awaitable[None]]) -> float:
    began = perf_counter()
    for _ in range(_CALLS):
        await call()
    return (perf_counter() - began) / _CALLS * 1e6


def walk() -> None:
    """Prints both walks, and the time of one call beside the other's; `-v` prints the calls too."""
    on_wire, over_asgi = asyncio.run(_times())
    print(f"in process: stdio {on_wire:.1f} µs, HTTP {over_asgi:.1f} µs, {over_asgi / on_wire:.2f}")
    for name, walked in (("stdio", over_stdio()), ("HTTP", over_http())):
        functions = len({*walked.calls})
        counts = f"{walked.modules} modules, {functions} functions, {len(walked.calls)} calls"
        print(f"{name}: {counts}")
        if "-v" in sys.argv:
            for (module, function), count in Counter(walked.calls).items():
                print(f"  {module}.{function} {count if count > 1 else ''}".rstrip())
