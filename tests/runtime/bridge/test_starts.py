"""How often a bridge starts the servers behind it."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime import types as t
from mcp_runtime.bridge import Bridge, Upstream
from mcp_runtime.transports.memory import pair

REVISIONS: Final = ("2025-11-25", "2026-07-28")


class Counted:
    """A server whose clients are counted."""

    def __init__(self, revision: str) -> None:
        self.count = 0
        self._server = Server("counted", "1", revisions=[revision])

        @self._server.tool
        async def ask(ctx: Context) -> str:
            return f"{(await ctx.elicit('Sure?', bool)).content}"

    def connect(self, **options: Any) -> Client:
        self.count += 1
        return Client(self._server, **options)


async def agree(question: Any) -> Any:
    return t.ElicitResult(action="accept", content={"value": True})


@pytest.mark.parametrize("server", REVISIONS)
@pytest.mark.parametrize("client", REVISIONS)
async def test_a_client_on_a_stream_of_its_own_starts_each_server_once(
    client: str, server: str
) -> None:
    counted = Counted(server)
    bridge = Bridge(Upstream(connect=counted.connect))
    ours, theirs = pair()
    serving = asyncio.create_task(bridge.server.serve_alone(theirs))

    async def connect() -> Any:
        return ours

    async with Client.wire(connect, revisions=[client], on_elicit=agree) as opened:
        assert (await opened.call_tool("ask")).text == "True"
        assert (await opened.call_tool("ask")).text == "True"
    await serving
    assert counted.count == 1


async def test_a_client_that_goes_without_a_message_starts_no_server() -> None:
    counted = Counted(REVISIONS[0])
    bridge = Bridge(Upstream(connect=counted.connect))
    ours, theirs = pair()
    serving = asyncio.create_task(bridge.server.serve_alone(theirs))
    await ours.close()
    await serving
    assert counted.count == 0


async def test_a_used_connection_is_not_given_to_another_client() -> None:
    counted = Counted(REVISIONS[0])
    bridge = Bridge(Upstream(connect=counted.connect))
    async with Client(bridge.server) as one, Client(bridge.server) as other:
        await one.list_tools()
        await other.list_tools()
        assert counted.count == 2
