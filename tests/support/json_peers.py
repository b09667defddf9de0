"""Peers that write and read JSON lines themselves, so that they share no error of ours.

Nothing here knows more of the runtime than its wires: a message is a `dict`, and its bytes are made
and read by `json`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Any, Final, TypeAlias

from mcp_runtime import Client, Server
from mcp_runtime.client.connection import ClientWireConnection, ConnectionOwner
from mcp_runtime.transports.memory import pair
from mcp_runtime.transports.wire import Wire

__all__ = [
    "ALL",
    "HANDSHAKE",
    "NEWEST",
    "RawClient",
    "RawServer",
    "connected",
    "discovered",
    "initialized",
    "since",
    "until",
    "with_page",
]

Json: TypeAlias = dict[str, Any]

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEWEST: Final = "2026-07-28"
ALL: Final = (*HANDSHAKE, NEWEST)
PREFIX: Final = "io.modelcontextprotocol/"
SECONDS: Final = 20.0


def since(first: str) -> tuple[str, ...]:
    return ALL[ALL.index(first) :]


def until(last: str) -> tuple[str, ...]:
    return ALL[: ALL.index(last) + 1]


def _once(pairs: list[tuple[str, Any]]) -> Json:
    members = dict(pairs)
    assert len(members) == len(pairs), f"a member stands twice: {pairs}"
    return members


class Line:
    """One end of a wire. `raw` are the lines that came; `got` is what was not taken yet."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.raw: list[bytes] = []
        self.got: list[Json] = []
        self.is_over = False
        self._held = b""
        self._news = asyncio.Event()
        wire.start(self)

    def received(self, chunk: bytes) -> None:
        *lines, self._held = (self._held + chunk).split(b"\n")
        self.raw += lines
        for line in lines:
            self._arrived(json.loads(line.decode("utf-8"), object_pairs_hook=_once))
        self._news.set()

    def _arrived(self, message: Any) -> None:
        self.got.append(message)

    def ended(self) -> None:
        assert not self._held
        self.is_over = True
        self._news.set()

    def write(self, *lines: bytes) -> None:
        self.wire.write(b"".join(line + b"\n" for line in lines))

    def send(self, *messages: Any) -> None:
        self.write(*(json.dumps(message).encode() for message in messages))

    def notify(self, method: str, params: Json | None = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {}))

    def answer(self, id: Any, result: Json) -> None:
        self.send({"jsonrpc": "2.0", "id": id, "result": result})

    def refuse(self, id: Any, code: int, message: str = "no", **data: Any) -> None:
        error = {"code": code, "message": message} | ({"data": data} if data else {})
        self.send({"jsonrpc": "2.0", "id": id, "error": error})

    async def next(self, fits: str | Callable[[Any], bool]) -> Json:
        """Takes the first message that fits, or that has this method."""
        which = (
            fits if callable(fits) else lambda m: isinstance(m, dict) and m.get("method") == fits
        )
        async with asyncio.timeout(SECONDS):
            while (message := next((m for m in self.got if which(m)), None)) is None:
                assert not self.is_over, f"the peer is gone; waited for {fits}; got {self.got}"
                self._news.clear()
                await self._news.wait()
        self.got.remove(message)
        return message

    async def response(self, id: Any) -> Json:
        """The answer or error with that id, of the same JSON type."""
        return await self.next(
            lambda m: (
                isinstance(m, dict)
                and "method" not in m
                and m.get("id") == id
                and type(m["id"]) is type(id)
            )
        )

    async def quiet(self, seconds: float = 0.02) -> list[Json]:
        """What has come and was not taken, when no more comes."""
        for _ in range(20):
            await asyncio.sleep(0)
        await asyncio.sleep(seconds)
        return list(self.got)

    async def end(self) -> None:
        await self.wire.close()


# ---- a client


class RawClient(Line):
    """Speaks one revision to a server."""

    def __init__(self, wire: Wire, revision: str, capabilities: Json | None = None) -> None:
        super().__init__(wire)
        self.revision = revision
        self.capabilities = capabilities or {}
        self.ids = count(1)
        self.result_of_initialize: Json = {}

    @property
    def is_modern(self) -> bool:
        return self.revision not in HANDSHAKE

    def meta(self, **more: Any) -> Json:
        """The `_meta` of a request of the per-request era."""
        fields = {
            "protocolVersion": self.revision,
            "clientInfo": {"name": "raw", "version": "0"},
            "clientCapabilities": self.capabilities,
        }
        return {PREFIX + name: value for name, value in fields.items()} | more

    def params(self, params: Json | None, meta: Json | None = None) -> Json:
        whole = (self.meta() if self.is_modern else {}) | (meta or {})
        return (params or {}) | ({"_meta": whole} if whole else {})

    def call(
        self, method: str, params: Json | None = None, *, id: Any = None, meta: Json | None = None
    ) -> Any:
        """Sends a request; its id."""
        id = next(self.ids) if id is None else id
        sent = self.params(params, meta)
        head = {"jsonrpc": "2.0", "id": id, "method": method}
        self.send(head | ({"params": sent} if sent else {}))
        return id

    async def ask(self, method: str, params: Json | None = None, **how: Any) -> Json:
        """The message that answers."""
        return await self.response(self.call(method, params, **how))

    async def result(self, method: str, params: Json | None = None, **how: Any) -> Json:
        answer = await self.ask(method, params, **how)
        assert answer.keys() == {"jsonrpc", "id", "result"}, answer
        result: Json = answer["result"]
        return result

    async def error(self, method: str, params: Json | None = None, **how: Any) -> Json:
        answer = await self.ask(method, params, **how)
        assert answer.keys() == {"jsonrpc", "id", "error"}, answer
        error: Json = answer["error"]
        return error

    async def tool(self, name: str, arguments: Json | None = None, **how: Any) -> Json:
        return await self.result("tools/call", {"name": name, "arguments": arguments or {}}, **how)

    async def initialize(self, **more: Any) -> Json:
        """The message that answers `initialize`."""
        params = {
            "protocolVersion": self.revision,
            "capabilities": self.capabilities,
            "clientInfo": {"name": "raw", "version": "0"},
        }
        self.send(
            {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params | more}
        )
        return await self.response("hello")

    async def shake_hands(self) -> None:
        answer = await self.initialize()
        self.result_of_initialize = answer["result"]
        assert self.result_of_initialize["protocolVersion"] == self.revision
        self.notify("notifications/initialized")
        for _ in range(3):
            await asyncio.sleep(0)  # it has arrived then

    async def offered(self) -> Json:
        """What the server says of itself: the result of its revision's first request."""
        if self.is_modern:
            return await self.result("server/discover")
        return self.result_of_initialize


@asynccontextmanager
async def connected(
    server: Server,
    revision: str,
    capabilities: Json | None = None,
    *,
    handshake: bool = True,
) -> AsyncIterator[RawClient]:
    """A raw client of a server that is being served; with its handshake done, if it has one."""
    ours, theirs = pair()
    async with server.running():
        serving = asyncio.create_task(server.serve(theirs))
        client = RawClient(ours, revision, capabilities)
        if handshake and not client.is_modern:
            await client.shake_hands()
        try:
            yield client
        finally:
            await ours.close()
            await serving


# ---- a server

Answers: TypeAlias = Mapping[str, Any]


def initialized(revision: str, capabilities: Json | None = None) -> Json:
    """A result of `initialize`."""
    info = {"name": "raw", "version": "0"}
    return {
        "protocolVersion": revision,
        "capabilities": capabilities or {},
        "serverInfo": info,
    }


def discovered(capabilities: Json | None = None, *versions: str) -> Json:
    """A result of `server/discover`."""
    return {
        "resultType": "complete",
        "supportedVersions": list(versions or [NEWEST]),
        "capabilities": capabilities or {},
        "ttlMs": 0,
        "cacheScope": "private",
    }


def with_page(result: Json, revision: str) -> Json:
    """A result that may be kept, as the revision wants it."""
    if revision in HANDSHAKE:
        return result
    return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} | result


class RawServer:
    """Speaks one revision to a client: `Client(raw_server, …)`.

    The first request is answered; others by `answers`: a result, a function of the message that
    gives one, or None for no answer. What has no answer there waits in `line.got`.
    """

    def __init__(
        self, revision: str, capabilities: Json | None = None, answers: Answers | None = None
    ) -> None:
        self.revision = revision
        self.capabilities = (
            {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
            if capabilities is None
            else capabilities
        )
        self.asked: list[Json] = []
        """Every message that came."""
        self.lines: list[_Served] = []
        self.answers: dict[str, Any] = {**self._first(), **(answers or {})}

    def _first(self) -> Json:
        if self.revision == NEWEST:
            return {"server/discover": discovered(self.capabilities)}
        return {"initialize": initialized(self.revision, self.capabilities)}

    @property
    def line(self) -> _Served:
        return self.lines[-1]

    def requests(self, method: str) -> list[Json]:
        return [m for m in self.asked if m.get("method") == method]

    async def __call__(self, stack: AsyncExitStack, owner: ConnectionOwner) -> ClientWireConnection:
        ours, theirs = pair()
        self.lines.append(_Served(theirs, self))
        stack.push_async_callback(ours.close)
        return ClientWireConnection(owner, ours)

    def client(self, **options: Any) -> Client:
        return Client(self, revisions=options.pop("revisions", [self.revision]), **options)


class _Served(Line):
    def __init__(self, wire: Wire, server: RawServer) -> None:
        self.server = server
        super().__init__(wire)

    def _arrived(self, message: Any) -> None:
        self.server.asked.append(message)
        named = message if isinstance(message, dict) else {}
        answer = self.server.answers.get(named.get("method", ""))
        if answer is None or "id" not in message:
            super()._arrived(message)
            return
        reply = answer(message) if callable(answer) else answer
        if reply is not None:
            self.answer(message["id"], reply)

    async def request(self, method: str, params: Json | None = None, id: Any = "s1") -> Json:
        """Asks the client; the message that answers."""
        head = {"jsonrpc": "2.0", "id": id, "method": method}
        self.send(head | ({"params": params} if params is not None else {}))
        return await self.response(id)
