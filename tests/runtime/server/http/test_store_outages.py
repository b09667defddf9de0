"""A store that is slow, or away for a while, or fails anywhere, costs no more than it has to."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.stores import StoreUnavailable
from mcp_runtime.stores.memory import MemoryStore
from mcp_runtime.stores.opening import store_at
from tests.support.asgi_client import GET, Session, serving
from tests.support.faulty_store import FaultyStore
from tests.support.redis_server import RedisServer


class Outage:
    """While it is `on`, no operation succeeds. Counts the operations."""

    def __init__(self) -> None:
        self.on = False
        self.count = 0
        self.fails_at = 0
        """The number of the one operation that fails beside."""

    async def __call__(self) -> None:
        self.count += 1
        if self.on or self.count == self.fails_at:
            raise StoreUnavailable("as the test wants it")


async def test_a_process_is_ready_while_its_store_answers() -> None:
    outage = Outage()
    store = FaultyStore(MemoryStore(), outage)
    async with serving(store=store, health="/health", ready="/ready") as client:
        for on, status in ((False, 200), (True, 503), (False, 200)):
            outage.on = on
            response = await client.ask("GET", "/ready", {**GET, "host": "evil.com"})
            assert response.status == status
            assert (await client.ask("GET", "/health", GET)).status == 200


async def test_without_a_store_a_process_is_ready_at_once() -> None:
    async with serving(ready="/ready") as client:
        assert (await client.ask("GET", "/ready", GET)).status == 200
        assert (await client.ask("GET", "/health", GET)).status == 404


async def test_a_slow_store_does_not_slow_requests_without_a_session() -> None:
    answers = asyncio.Event()
    answers.set()
    store = FaultyStore(MemoryStore(), fault=lambda: _done(answers))
    async with serving(store=store) as client:
        session = await client.session()
        answers.clear()
        waiting = [session.call("echo", {"text": "late"}) for _ in range(10)]
        for number in range(10):
            response = await client.call("echo", {"text": str(number)}).until_over()
            assert response.json["result"]["content"][0]["text"] == str(number)
        assert not any(each.status for each in waiting)
        answers.set()
        for each in waiting:
            assert "late" in str((await each.until_over()).json["result"])


async def _done(event: asyncio.Event) -> None:
    await event.wait()


async def test_a_session_goes_on_after_an_outage_during_which_all_it_asks_is_refused() -> None:
    outage = Outage()
    async with serving(store=FaultyStore(MemoryStore(), outage)) as client:
        session = await client.session()
        outage.on = True
        for _ in range(3):
            refused = await session.call("echo", {"text": "no"}).until_over()
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert refused.error["code"] == -32603  # the client has done nothing wrong
            assert "cannot be reached" in refused.error["message"]
            assert (await client.call("echo").until_over()).status == 200
        outage.on = False
        assert "yes" in str((await session.call("echo", {"text": "yes"}).until_over()).json)


# ---- round trips


@pytest.mark.real_time
async def test_a_request_of_a_session_takes_one_round_trip_and_a_stream_one_more(
    redis: RedisServer,
) -> None:
    store, batches = store_at(redis.url), list[int]()
    send = store._server._batches._do

    async def counted(works: Sequence[Any]) -> Any:
        if scripts := [work for work in works if work[0] == "EVALSHA"]:  # no lease, no bus
            batches.append(len(scripts))
        return await send(works)

    store._server._batches._do = counted
    server = Server("tells", "1")

    @server.tool
    async def tell(ctx: Context) -> str:
        for number in range(3):
            await ctx.log("error", number)
        return "told"

    async with serving(server, store=store) as client:
        session = await client.session()
        await session.call("tell").until_over()  # now Redis knows the scripts
        batches.clear()
        await session.request("ping").until_over()
        assert batches == [1]
        response = await session.call("tell").until_over()
        assert batches == [1, 1, 1]
        assert [bool(event.data) for event in response.events] == [False, *[True] * 4]


# ---- faults between any two operations


def _teller() -> Server:
    server = Server("teller", "1")

    @server.tool
    async def tell(ctx: Context) -> str:
        for number in range(3):
            await ctx.log("info", number)
            for _ in range(10):  # what is logged later is stored by itself
                await asyncio.sleep(0)
        return "told"

    return server


@pytest.mark.parametrize("when", ["fault", "reply_fault"])
async def test_whichever_operation_fails_a_stream_goes_on_with_each_message_once(when: str) -> None:
    """Whether it was not done, or done and the reply was lost."""

    fault, fails_at = Outage(), 0
    while fault.count >= fails_at:  # the last time, nothing has failed
        fault, fails_at = Outage(), fails_at + 1
        store = FaultyStore(MemoryStore(), **{when: fault})
        async with serving(_teller(), store=store) as client:
            session = await client.session()
            fault.count, fault.fails_at = 0, fails_at
            messages = await _messages(session)
            data = [each["params"]["data"] for each in messages if "params" in each]
            assert data == [0, 1, 2], f"operation {fails_at} has failed"
            assert "told" in str(messages[-1]["result"])
    assert fails_at > 6


async def _messages(session: Session) -> list[Any]:
    """Of one call, whose stream is resumed until the answer is there."""
    while not (begun := await session.call("tell").until_over()).events:
        assert begun.status in {200, 503}  # nothing has come that could be resumed
    messages, last = list(begun.messages), begun.events[-1].id
    while not any("result" in each for each in messages):
        resumed = await session.get(last).until_over()
        assert resumed.status in {200, 503}
        messages += resumed.messages
        last = resumed.events[-1].id if resumed.events else last
    return messages
