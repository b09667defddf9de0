"""A raw peer of a real server connection, in memory: it sends whatever a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp_runtime import Server
from mcp_runtime.server.connection import ServerWireConnection
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.transports.memory import pair
from mcp_runtime.transports.wire import Wire
from tests.support.patience import PATIENCE
from tests.support.session_pair import HANDSHAKE, initialize, notification, request


class RawPeer:
    """Keeps each message that came, parsed, until it is asked for."""

    def __init__(self, wire: Wire, connection: ServerWireConnection) -> None:
        self.wire = wire
        self.connection = connection
        self.came: list[Any] = []
        self.over = False
        self._rest = b""
        self._news = asyncio.Event()
        wire.start(self)

    def received(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self.came += map(json.loads, lines)
        self._news.set()

    def ended(self) -> None:
        self.over = True
        self._news.set()

    def say(self, *messages: bytes) -> None:
        self.wire.write(b"".join(message + b"\n" for message in messages))

    async def hears(self, what: Callable[[Any], bool] = lambda message: True) -> Any:
        """The first message that came and is `what` is wanted; the others stay."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for number, message in enumerate(self.came):
                    if what(message):
                        return self.came.pop(number)
                assert not self.over, "the server has hung up"
                self._news.clear()
                await self._news.wait()

    async def asks(self, id: Any, method: str, params: Any = None) -> Any:
        """The answer under that id."""
        self.say(request(id, method, params))
        return await self.hears(lambda message: _is_answer(message, id))

    async def settles(self) -> None:
        """Until what was said is read: the server is asked, and all before the answer has come."""
        answer = await self.asks("settles", "ping")
        assert answer["id"] == "settles"


def _is_answer(message: Any, id: Any) -> bool:
    return (
        isinstance(message, dict)
        and "method" not in message
        and type(message.get("id")) is type(id)
        and message["id"] == id
    )


@asynccontextmanager
async def connected(server: Server, spoken: str | None) -> AsyncGenerator[RawPeer]:
    """A peer that has shaken hands, if it speaks a revision that has that; no task stays behind."""
    before = asyncio.all_tasks()
    ours, theirs = pair(server.limits)
    connection = ServerWireConnection(dispatcher_of(server))
    served = asyncio.create_task(connection.serve(theirs))
    peer = RawPeer(ours, connection)
    if spoken in HANDSHAKE:
        await peer.asks("opens", "initialize", initialize(spoken))
        peer.say(notification("notifications/initialized"))
    try:
        yield peer
    finally:
        await ours.close()
        async with asyncio.timeout(PATIENCE):
            await served
    assert not connection.session.running
    assert not len(connection.session.pending)
    assert asyncio.all_tasks() == before
