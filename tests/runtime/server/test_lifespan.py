"""A server's lifespan is entered once for all who are served at one time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from mcp_runtime.client.client import Client
from mcp_runtime.server.context import Context
from mcp_runtime.server.server import Server
from tests.support.virtual_time import elapse


def a_server(steps: list[str]) -> Server:
    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncGenerator[str]:
        task = asyncio.current_task()
        steps.append("entered")
        yield f"state {steps.count('entered')}"
        steps.append("left in the same task" if asyncio.current_task() is task else "elsewhere")

    server = Server("s", "1", lifespan=lifespan)

    @server.tool
    async def state(ctx: Context) -> str:
        return str(ctx.lifespan)

    return server


async def state_of(client: Client) -> str:
    return str(getattr((await client.call_tool("state")).content[0], "text", ""))


async def test_clients_at_one_time_share_a_lifespan_and_later_ones_have_another() -> None:
    steps: list[str] = []
    server = a_server(steps)

    async with Client(server) as one:
        async with Client(server) as other:
            words = [await state_of(one), await state_of(other)]
        words.append(await state_of(one))
    async with Client(server) as later:
        words.append(await state_of(later))
    assert words == ["state 1", "state 1", "state 1", "state 2"]
    assert steps == ["entered", "left in the same task"] * 2


async def test_what_a_lifespan_raises_is_raised_to_who_serves_and_the_next_may_try_again() -> None:
    attempts: list[int] = []

    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncGenerator[None]:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("the disk is not there")
        yield

    server = Server("s", "1", lifespan=lifespan)

    with pytest.raises(OSError, match="the disk"):
        async with Client(server):
            pass
    async with Client(server) as client:
        assert client.revision
    assert len(attempts) == 2


async def test_a_lifespan_is_left_after_its_handlers_though_the_end_of_a_client_is_cancelled() -> (
    None
):
    steps: list[str] = []
    server = a_server(steps)

    @server.tool
    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await elapse(0.01)
            steps.append("handler ended")

    client = Client(server)
    await client.__aenter__()
    call = asyncio.create_task(client.call_tool("wait"))
    await elapse(0.01)
    ending = asyncio.create_task(client.__aexit__(None, None, None))
    await asyncio.sleep(0)  # it closes the wire
    ending.cancel()
    await asyncio.gather(call, ending, return_exceptions=True)
    assert steps == ["entered", "handler ended", "left in the same task"]
