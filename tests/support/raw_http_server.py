"""An HTTP server that writes its bytes itself, and does what a test says for each message."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from mcp_runtime import Client
from tests.support.json_peers import NEWEST, discovered, initialized
from tests.support.patience import until

__all__ = ["Asked", "RawHttp", "Reply", "Server", "answer", "error", "tool"]

Json: TypeAlias = dict[str, Any]
JSON: Final = "application/json"
STREAM: Final = "text/event-stream"
OFFERED: Final = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}}


def answer(asked: Asked, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": asked.id, "result": result}


def error(id: Any, code: int, **data: Any) -> Json:
    error = {"code": code, "message": "no"} | ({"data": data} if data else {})
    return {"jsonrpc": "2.0", "id": id, "error": error}


def tool(name: str, **properties: Any) -> Json:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


@dataclass
class Asked:
    """One request; `what` is the method of its message, or else that of HTTP."""

    verb: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        return json.loads(self.body) if self.body else {}

    @property
    def what(self) -> str:
        message = self.message
        if not isinstance(message, dict):
            return "batch"
        return str(message.get("method", "response" if message else self.verb))

    @property
    def id(self) -> Any:
        return self.message.get("id")


class Reply:
    """To one request: `send` all of it, or `stream`, `event` and then `end` or `drop`."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.gone = asyncio.Event()

    async def send(self, status: int = 200, body: Any = b"", kind: str = JSON, **more: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self._head(status, {"Content-Type": kind, "Content-Length": str(len(data)), **more})
        await self._write(data)

    async def stream(self, kind: str = STREAM, **more: str) -> None:
        await self._head(200, {"Content-Type": kind, "Transfer-Encoding": "chunked", **more})

    async def raw(self, data: bytes) -> None:
        await self._write(b"%x\r\n%b\r\n" % (len(data), data))

    async def event(self, message: Any = None, id: str = "", retry: int | None = None) -> None:
        head = (f"id: {id}\n" if id else "") + ("" if retry is None else f"retry: {retry}\n")
        data = "" if message is None else json.dumps(message)
        await self.raw(f"{head}data: {data}\n\n".encode())

    async def end(self) -> None:
        await self._write(b"0\r\n\r\n")

    def drop(self) -> None:
        self.writer.transport.abort()

    async def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} Status", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
        await self._write("\r\n".join(lines).encode())

    async def _write(self, data: bytes) -> None:
        self.writer.write(data)
        with suppress(ConnectionError):
            await self.writer.drain()


Act: TypeAlias = Callable[[Asked, Reply], Awaitable[None]]


class RawHttp:
    """`acts` say what is done by what was asked; what has none waits until the client is gone."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.acts: dict[str, Act] = {}
        self.asked: list[Asked] = []
        self.port = 0
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._serving: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/mcp"

    async def start(self) -> None:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self.port, ssl=self._tls
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def kill(self) -> None:
        """Every connection breaks, and nobody listens any more."""
        if self._server is not None:
            self._server.close()
        for writer in self._serving.values():
            writer.transport.abort()
        for task in [*self._serving]:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[RawHttp]:
        await self.start()
        try:
            yield self
        finally:
            await self.kill()

    def whats(self) -> list[str]:
        return [asked.what for asked in self.asked]

    def of(self, what: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.what == what]

    async def until(self, what: str, count: int = 1) -> Asked:
        """The request of that number, once it came."""
        await until(lambda: len(self.of(what)) >= count)
        return self.of(what)[count - 1]

    async def until_left(self) -> None:
        """Returns when no connection is open."""
        await until(lambda: not self._serving)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._serving[task] = writer
        task.add_done_callback(self._serving.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                reply = Reply(writer)
                await self._act(asked, reply, reader)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _act(self, asked: Asked, reply: Reply, reader: asyncio.StreamReader) -> None:
        done = asyncio.ensure_future(self.acts.get(asked.what, _silent)(asked, reply))
        try:
            while not done.done():
                await asyncio.wait((done,), timeout=0.01)
                if reader.at_eof() or reader.exception() is not None:  # closed, or reset
                    reply.gone.set()
            await done
        finally:
            done.cancel()


async def _silent(asked: Asked, reply: Reply) -> None:
    await reply.gone.wait()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    verb, path, _ = head[0].split(" ")
    pairs = (line.split(":", 1) for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(verb, path, headers, body)


class Server(RawHttp):
    """Speaks one revision over Streamable HTTP; with a session if it is given ids for them.

    The tool `t` answers at once; GET is refused; others are for `acts`.
    """

    def __init__(self, revision: str = NEWEST, *sessions: str, **options: Any) -> None:
        super().__init__(**options)
        self.revision = revision
        self.sessions = list(sessions)
        self.live = ""
        self.acts |= {
            "server/discover": self._discover,
            "initialize": self._initialize,
            "notifications/initialized": self.accept,
            "notifications/cancelled": self.accept,
            "response": self.accept,
            "tools/call": self._call,
            "tools/list": self._list,
            "GET": self._refuse,
            "DELETE": self._refuse,
        }
        self.tools = [tool("t")]

    def client(self, **options: Any) -> Client:
        return Client.http(self.url, **({"revisions": [self.revision]} | options))

    def result(self, **members: Any) -> Json:
        kind = {"resultType": "complete"} if self.revision == NEWEST else {}
        return {**kind, **members}

    def called(self, text: str = "done") -> Json:
        return self.result(content=[{"type": "text", "text": text}])

    async def accept(self, asked: Asked, reply: Reply) -> None:
        await reply.send(202)

    async def _refuse(self, asked: Asked, reply: Reply) -> None:
        await reply.send(405)

    async def _discover(self, asked: Asked, reply: Reply) -> None:
        if self.revision == NEWEST:
            await reply.send(200, answer(asked, discovered(OFFERED)))
        else:
            await reply.send(400, error(None, -32600))

    async def _initialize(self, asked: Asked, reply: Reply) -> None:
        self.live = self.sessions.pop(0) if self.sessions else ""
        session = {"Mcp-Session-Id": self.live} if self.live else {}
        await reply.send(200, answer(asked, initialized(self.revision, OFFERED)), **session)

    async def _call(self, asked: Asked, reply: Reply) -> None:
        await reply.send(200, answer(asked, self.called()))

    async def _list(self, asked: Asked, reply: Reply) -> None:
        hints = {"ttlMs": 0, "cacheScope": "private"} if self.revision == NEWEST else {}
        await reply.send(200, answer(asked, self.result(tools=self.tools, **hints)))
