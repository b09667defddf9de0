"""Wires of the application: `Client.wire` opens one for each connection, and both ends end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from mcp_runtime import Client, Server
from mcp_runtime.errors import NotOpen
from mcp_runtime.transports.memory import pair
from mcp_runtime.transports.wire import Wire


class Exchange:
    """Serves each wire that it opens, and can break the last one."""

    def __init__(self) -> None:
        self.server = Server("s", "1")
        self.server.tool(name="name")(lambda: "s")
        self.served: list[asyncio.Task[None]] = []
        self.wires: list[Wire] = []

    async def connect(self) -> Wire:
        ours, theirs = pair()
        self.served.append(asyncio.create_task(self.server.serve(theirs)))
        self.wires.append(theirs)
        return ours

    async def hang_up(self) -> None:
        await self.wires[-1].close()


@asynccontextmanager
async def exchange() -> AsyncIterator[Exchange]:
    opened = Exchange()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(opened.server.running())
        yield opened
        await asyncio.gather(*opened.served)


async def test_a_wire_is_opened_for_each_entering_and_serving_ends_with_it() -> None:
    async with exchange() as opened:
        client = Client.wire(opened.connect)
        for count in (1, 2):
            async with client:
                assert not (await client.call_tool("name")).is_error
                assert len(opened.served) == count
                assert not opened.served[-1].done()
            await opened.served[-1]


async def test_a_wire_that_ends_is_opened_again_as_often_as_restarts_allow() -> None:
    async with exchange() as opened, Client.wire(opened.connect, restarts=1) as client:
        await opened.hang_up()
        assert not (await client.call_tool("name")).is_error
        assert len(opened.wires) == 2
        await opened.hang_up()
        with pytest.raises(NotOpen):
            await client.call_tool("name")
    assert len(opened.wires) == 2


async def test_the_exception_of_connecting_is_that_of_entering() -> None:
    async def refuse() -> Wire:
        raise ConnectionRefusedError("nobody listens")

    with pytest.raises(ConnectionRefusedError, match="nobody listens"):
        async with Client.wire(refuse):
            pass
