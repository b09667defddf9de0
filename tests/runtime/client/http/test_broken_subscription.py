"""A subscription of the per-request era outlives the connection of its stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_runtime import Client
from mcp_runtime.client.subscription import Subscription
from mcp_runtime.errors import BadStatus, Disconnected
from mcp_runtime.limits import Limits
from tests.support.json_peers import NEWEST
from tests.support.raw_http_server import Asked, Reply, Server, answer, tool
from tests.support.virtual_time import elapse, now

SECONDS = 30.0


class Listened(Server):
    """Acknowledges each subscription, or refuses it with the status set; `streams` are open."""

    def __init__(self) -> None:
        super().__init__()
        self.streams: asyncio.Queue[tuple[Asked, Reply]] = asyncio.Queue()
        self.status = 200
        self.acts |= {"subscriptions/listen": self._listen, "tools/list": self._list}

    async def _listen(self, asked: Asked, reply: Reply) -> None:
        if self.status != 200:
            await reply.send(self.status)
            return
        wanted = asked.message["params"]["notifications"]
        meta = {"io.modelcontextprotocol/subscriptionId": asked.id}
        params = {"notifications": wanted, "_meta": meta}
        method = "notifications/subscriptions/acknowledged"
        await reply.stream()
        await reply.event({"jsonrpc": "2.0", "method": method, "params": params})
        self.streams.put_nowait((asked, reply))
        await reply.gone.wait()

    async def _list(self, asked: Asked, reply: Reply) -> None:
        caching = {"ttlMs": 60_000, "cacheScope": "private"}
        listed = {"resultType": "complete", "tools": [tool("t")], **caching}
        await reply.send(200, answer(asked, listed))

    async def broken(self) -> None:
        """Breaks the connection of the stream that was opened first."""
        (await self.streams.get())[1].drop()


@asynccontextmanager
async def listening(server: Server, **limits: Any) -> AsyncGenerator[tuple[Client, Subscription]]:
    few = Limits(resume_wait=0.01, **limits)
    async with (
        server.running(),
        server.client(revisions=[NEWEST], limits=few) as client,
        client.listen(tools=True, uris=["a://b"]) as changes,
        asyncio.timeout(SECONDS),
    ):
        yield client, changes


@pytest.mark.requirement("pattern.resubscribe", "subscriptions.end.abrupt")
async def test_a_subscription_whose_stream_breaks_is_asked_for_again() -> None:
    server = Listened()
    async with listening(server) as (client, changes):
        await client.list_tools()
        for times in (2, 3):
            await server.broken()
            heard = [await anext(changes), await anext(changes)]
            assert [(each.what, each.uri) for each in heard] == [
                ("tools", None),
                ("resource", "a://b"),
            ]
            await client.list_tools()
            assert len(server.of("subscriptions/listen")) == times
            assert len(server.of("tools/list")) == times, "an answer was kept that may be stale"


async def test_a_subscription_comes_back_to_a_server_that_was_busy() -> None:
    server = Listened()
    async with listening(server) as (_, changes):
        server.status = 503
        await server.broken()
        await server.until("subscriptions/listen", 3)
        server.status = 200
        assert (await anext(changes)).what == "tools"


async def test_a_subscription_that_cannot_be_had_again_ends_with_the_cause() -> None:
    server = Listened()
    async with listening(server, resume_attempts=2) as (_, changes):
        server.status = 503
        await server.broken()
        with pytest.raises(Disconnected, match="a subscription is lost after 2 attempts") as caught:
            await anext(changes)
        assert isinstance(caught.value.__cause__, BadStatus)
        assert len(server.of("subscriptions/listen")) == 3


async def test_a_subscription_that_is_refused_is_not_asked_for_again() -> None:
    server = Listened()
    async with listening(server) as (_, changes):
        server.status = 403
        await server.broken()
        with pytest.raises(BadStatus, match="HTTP 403"):
            await anext(changes)
        assert len(server.of("subscriptions/listen")) == 2


async def test_a_subscription_that_the_server_ends_is_over() -> None:
    server = Listened()
    async with listening(server) as (_, changes):
        asked, reply = await server.streams.get()
        meta = {"io.modelcontextprotocol/subscriptionId": asked.id}
        await reply.event(answer(asked, {"resultType": "complete", "_meta": meta}))
        await reply.end()
        assert [change async for change in changes] == []
        assert len(server.of("subscriptions/listen")) == 1


async def test_a_server_that_breaks_each_stream_is_not_asked_for_ever() -> None:
    server = Listened()
    async with listening(server, resume_attempts=2) as (_, changes):
        for _ in range(3):
            await server.broken()
        with pytest.raises(Disconnected, match="a subscription is lost after 2 attempts"):
            _ = [change async for change in changes]
    assert len(server.of("subscriptions/listen")) == 3


async def test_a_subscription_that_was_left_is_not_asked_for_again() -> None:
    server, limits = Listened(), Limits(resume_wait=0.1)
    async with server.running(), server.client(revisions=[NEWEST], limits=limits) as client:
        async with client.listen(tools=True):
            await server.broken()
            await client.list_tools()
        await elapse(0.2)
    assert len(server.of("subscriptions/listen")) == 1


@pytest.mark.parametrize("leaves", [True, False], ids=["left", "closed"])
async def test_the_wait_for_another_stream_does_not_hold_a_client_that_is_closed(
    leaves: bool,
) -> None:
    server, limits = Listened(), Limits(resume_wait=60, drain_wait=20)
    async with server.running(), asyncio.timeout(SECONDS):
        client = server.client(revisions=[NEWEST], limits=limits)
        async with client:
            changes = client.listen(tools=True)
            await changes.__aenter__()
            await server.broken()
            await client.list_tools()
            started = now()
            if leaves:
                await changes.__aexit__(None, None, None)
        assert now() - started < 10
