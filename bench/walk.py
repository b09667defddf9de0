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
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from mcp_runtime import Server

__all__ = ["Walk", "over_http", "over_stdio", "walk"]

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
    async def add(a: int, b: int) -> int:  # pyright: ignore[reportUnusedFunction]
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
    headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
    headers.append((b"content-length", str(len(body)).encode()))
    scope: Mapping[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "root_path": "",
        "query_string": b"",
        "headers": headers,
    }
    parts = [{"type": "http.request", "body": body}]
    gone = asyncio.Event()

    async def receive() -> Mapping[str, Any]:
        if parts:
            return parts.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        answer.extend(message.get("body", b""))

    await app(scope, receive, send)
    assert json.loads(answer)["result"]["structuredContent"] == {"result": 3}


def walk() -> None:
    """Prints both walks; `python -m bench.walk -v` prints their calls too."""
    for name, walked in (("stdio", over_stdio()), ("HTTP", over_http())):
        functions = len({*walked.calls})
        counts = f"{walked.modules} modules, {functions} functions, {len(walked.calls)} calls"
        print(f"{name}: {counts}")
        if "-v" in sys.argv:
            for (module, function), count in Counter(walked.calls).items():
                print(f"  {module}.{function} {count if count > 1 else ''}".rstrip())


if __name__ == "__main__":
    walk()
