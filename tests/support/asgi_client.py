"""Calls an ASGI application by hand, without a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

from mcp_runtime import Context, Server
from mcp_runtime.core.wire.sse import Event, Events
from mcp_runtime.server.http.app import HttpApp
from tests.support.patience import PATIENCE

LATEST: Final = "2026-07-28"
SHAKEN: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
BOTH: Final = "application/json, text/event-stream"
POST: Final = {"host": "localhost", "accept": BOTH, "content-type": "application/json"}
GET: Final = {"host": "localhost", "accept": "text/event-stream"}

Headers: TypeAlias = Mapping[str, str | Sequence[str]]
NO_HEADERS: Final[Headers] = {}


class Response:
    """What the application sends in answer to one request, as it comes."""

    def __init__(self) -> None:
        self.status = 0
        self.raw: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.sent: list[bytes] = []
        """The parts of the body."""
        self.over = False
        self.events: list[Event] = []
        self.parts: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        """Of the request."""
        self.refuses = False
        """Whether sending fails, as it does on a broken connection."""
        self.reads = asyncio.Event()
        """Clear where the client does not read: what follows the first part of the body waits."""
        self.reads.set()
        self._parser = Events(1 << 24)
        self._news = asyncio.Event()
        self.task: asyncio.Task[None]

    async def send(self, message: Mapping[str, Any]) -> None:
        if self.refuses:
            raise OSError("gone")
        if self.body:
            await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status, self.raw = message["status"], list(message["headers"])
        else:
            self._take(message.get("body", b""))
            self.over = not message.get("more_body", False)
        self._news.set()

    def _take(self, data: bytes) -> None:
        self.body += data
        self.sent.append(data)
        if self.is_stream:
            self.events += (each for each in self._parser.feed(data) if isinstance(each, Event))

    def disconnect(self) -> None:
        self.parts.put_nowait({"type": "http.disconnect"})

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.raw}

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> Any:
        return self.json["error"]

    @property
    def messages(self) -> list[Any]:
        """Of a stream; events without data are left out."""
        return [json.loads(event.data) for event in self.events if event.data]

    async def until(
        self, is_so: Callable[[Response], object], seconds: float = PATIENCE
    ) -> Response:
        async with asyncio.timeout(seconds):
            while not is_so(self):
                self._news.clear()
                if self.task.done() and not is_so(self):
                    raise AssertionError(f"the response has ended: {self.status} {self.body!r}")
                await asyncio.wait(
                    {self.task, news := asyncio.ensure_future(self._news.wait())},
                    return_when=asyncio.FIRST_COMPLETED,
                )
                news.cancel()
        return self

    async def until_begun(self) -> Response:
        return await self.until(lambda self: self.status)

    async def until_over(self) -> Response:
        async with asyncio.timeout(PATIENCE):
            await self.task
        return self

    async def until_events(self, count: int) -> Response:
        return await self.until(lambda self: len(self.events) >= count)

    async def drop(self) -> None:
        """Breaks the connection, and waits until the application has noticed."""
        self.refuses = True
        self.disconnect()
        async with asyncio.timeout(PATIENCE):
            await self.task


class Client:
    """Asks an application; what it sent is in `Response`."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.open: list[Response] = []

    def begin(
        self,
        method: str,
        path: str,
        headers: Headers,
        parts: Sequence[bytes] = (b"",),
        *,
        ends: bool = True,
        query: str = "",
        **scope: Any,
    ) -> Response:
        """`ends` says whether the request's body is whole with its parts."""
        response = Response()
        for number, part in enumerate(parts):
            more = not ends or number + 1 < len(parts)
            response.parts.put_nowait({"type": "http.request", "body": part, "more_body": more})
        whole = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, values in headers.items()
                for value in ([values] if isinstance(values, str) else values)
            ],
            **scope,
        }
        asked = self.app(whole, response.parts.get, response.send)
        response.task = asyncio.ensure_future(asked)
        self.open.append(response)
        return response

    async def ask(self, *args: Any, **options: Any) -> Response:
        return await self.begin(*args, **options).until_over()

    def post(
        self, message: Any, headers: Headers = NO_HEADERS, *, path: str = "/mcp", **scope: Any
    ) -> Response:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.begin("POST", path, {**POST, **headers}, [body], **scope)

    # ---- the per-request era

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        headers: Headers = NO_HEADERS,
        *,
        capabilities: Mapping[str, Any] | None = None,
        more: Mapping[str, Any] | None = None,
        **scope: Any,
    ) -> Response:
        params = {"name": name, "arguments": arguments or {}, **(more or {})}
        said = request("tools/call", params, capabilities=capabilities)
        return self.post(said, {**mirrors(said), **headers}, **scope)

    def request(
        self, method: str, params: Mapping[str, Any] | None = None, headers: Headers = NO_HEADERS
    ) -> Response:
        said = request(method, params)
        return self.post(said, {**mirrors(said), **headers})

    # ---- the handshake era

    async def session(
        self,
        revision: str = SHAKEN[0],
        *,
        capabilities: Mapping[str, Any] | None = None,
        **scope: Any,
    ) -> Session:
        """An open one."""
        begun = await self.post(initialize(revision, capabilities), **scope).until_over()
        assert begun.status == 200, begun.body
        session = Session(self, begun.headers["mcp-session-id"], revision, scope)
        opened = session.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (await opened.until_over()).status == 202
        return session


class Session:
    """A client's side of a session."""

    def __init__(
        self, client: Client, id: str, revision: str, scope: Mapping[str, Any] | None = None
    ) -> None:
        self.client, self.id, self.revision = client, id, revision
        self.scope = scope or {}
        self.last = 0
        """The id of the last request."""

    @property
    def headers(self) -> dict[str, str]:
        named = self.revision != "2025-03-26"
        version = {"mcp-protocol-version": self.revision} if named else {}
        return {"mcp-session-id": self.id, **version}

    def post(self, message: Any, headers: Headers = NO_HEADERS) -> Response:
        return self.client.post(message, {**self.headers, **headers}, **self.scope)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Response:
        self.last += 1
        body = {} if params is None else {"params": params}
        return self.post({"jsonrpc": "2.0", "id": self.last, "method": method, **body})

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Response:
        return self.request(
            "tools/call", {"name": name, "arguments": arguments or {}, **(more or {})}
        )

    def get(self, last: str | None = None, headers: Headers = NO_HEADERS) -> Response:
        resumed = {} if last is None else {"last-event-id": last}
        sent = {**GET, **self.headers, **resumed, **headers}
        return self.client.begin("GET", "/mcp", sent, **self.scope)

    def delete(self) -> Response:
        headers = {"host": "localhost", **self.headers}
        return self.client.begin("DELETE", "/mcp", headers, **self.scope)


def initialize(revision: str, capabilities: Mapping[str, Any] | None = None) -> dict[str, Any]:
    params = {
        "protocolVersion": revision,
        "capabilities": capabilities or {},
        "clientInfo": {"name": "asking", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def request(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    id: int | str = 1,
    version: str = LATEST,
    capabilities: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Of the per-request era."""
    given = dict(params or {})
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "asking", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
        **given.pop("_meta", {}),
    }
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**given, "_meta": meta}}


def mirrors(body: Mapping[str, Any]) -> dict[str, str]:
    """The headers that a request has to have; none for arguments."""
    params = body["params"]
    version = params["_meta"]["io.modelcontextprotocol/protocolVersion"]
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": body["method"]}
    named = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
    if body["method"] in named:
        headers["Mcp-Name"] = params[named[body["method"]]]
    return headers


@asynccontextmanager
async def serving(server: Server | HttpApp | None = None, **options: Any) -> AsyncGenerator[Client]:
    """A client of a server. At the end nothing of what was asked is open."""
    app = server if isinstance(server, HttpApp) else (server or plain()).asgi(**options)
    client = Client(app)
    try:
        yield client
    finally:
        for response in client.open:
            response.disconnect()
        await app.drain()
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(each.task for each in client.open))


def plain(**options: Any) -> Server:
    """A server with a few tools."""
    server = Server("plain", "1", **options)

    @server.tool
    async def echo(text: str = "") -> str:
        return text

    @server.tool
    async def count(to: int, ctx: Context) -> str:
        for number in range(to):
            await ctx.progress(number + 1)
            await ctx.log("info", number)
            await asyncio.sleep(0)
        return "counted"

    return server
