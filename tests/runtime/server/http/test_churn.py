"""Clients come and go in every way, and nothing of them stays; a server ends in good order."""

from __future__ import annotations

import asyncio
import gc
import math
import tracemalloc
from itertools import pairwise

import pytest

from bench.soak import churn, counts, settled, slope, talker
from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from mcp_runtime.server.decorators import dispatcher_of
from tests.runtime.server.http.test_requests import LISTEN
from tests.support.asgi_client import GET, Client, plain, serving
from tests.support.clock import Clock
from tests.support.patience import until
from tests.support.virtual_time import elapse


async def come_and_go(clients: int) -> None:
    client, clock = Client(talker(session_idle=600.0).asgi()), Clock()
    held = []
    for run_ in range(4):
        for start in range(0, clients, 50):
            seeds = range(run_ * clients + start, run_ * clients + start + 50)
            await asyncio.gather(*(churn(client, seed) for seed in seeds))
            client.open.clear()
        while client.app.sessions:
            await clock.forward(700)
        await settled(client)
        held.append(counts(client))
    objects = [each.pop("objects") for each in held]
    grown = min(after - before for before, after in pairwise(objects))  # a leak is in each round
    *_, before, after = held
    assert after == before
    assert (after["tasks"], after["sessions"], after["connections"], after["stored"]) == (
        1,
        0,
        0,
        0,
    )
    assert grown < clients  # a client that stays is many objects


@pytest.mark.wide
async def test_clients_that_come_and_go_leave_nothing() -> None:
    await come_and_go(100)


@pytest.mark.long
async def test_a_thousand_clients_that_come_and_go_leave_nothing() -> None:
    await come_and_go(1000)


# ---- the end


@pytest.mark.wide
@pytest.mark.parametrize("kind", ["get", "sse", "listen"])
async def test_a_thousand_open_streams_are_ended_in_good_order_without_waiting(
    kind: str,
) -> None:
    server = plain()
    client = Client(server.asgi())
    for _ in range(1000):
        if kind == "get":
            (await client.session()).get()
        elif kind == "sse":
            client.begin("GET", "/sse", GET)
        else:
            client.request("subscriptions/listen", LISTEN)
    streams = client.open[2::3] if kind == "get" else client.open
    for stream in streams:
        await stream.until_begun()
    assert len(dispatcher_of(server).connections) == 1000
    begun = (loop := asyncio.get_running_loop()).time()
    await client.app.drain()
    assert loop.time() - begun < Limits().drain_wait / 10
    assert [stream for stream in streams if not stream.over] == []
    if kind == "listen":
        assert all(stream.messages[-1]["id"] == 1 for stream in streams)
    assert (dispatcher_of(server).connections, client.app.sessions, client.app.sse_sessions) == (
        set(),
        {},
        {},
    )


@pytest.mark.parametrize("in_session", [False, True])
async def test_what_is_worked_on_at_the_end_is_answered_if_that_is_soon(in_session: bool) -> None:
    server, go, seen = Server("slow", "1", limits=Limits(drain_wait=20)), asyncio.Event(), []

    @server.tool
    async def slow(forever: bool = False) -> str:
        try:
            await (asyncio.Event() if forever else go).wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "in time"

    client = Client(server.asgi())
    session = await client.session() if in_session else None
    call = session.call if session else client.call
    soon, never = call("slow"), call("slow", {"forever": True})
    await elapse(1)
    draining = asyncio.ensure_future(client.app.drain())
    await elapse(1)
    refused = await client.call("slow").until_over()
    assert (refused.status, "shutting down" in refused.error["message"]) == (503, True)
    assert "retry-after" in refused.headers
    go.set()
    await soon.until_over()
    answer = soon.messages[-1] if soon.is_stream else soon.json
    assert answer["result"]["content"][0]["text"] == "in time"
    await draining
    assert asyncio.get_running_loop().time() == pytest.approx(1 + 20, abs=0.1)
    await never.until_over()
    assert seen == ["cancelled"]
    assert "result" not in str(never.body)


async def test_a_question_is_answered_while_the_server_ends() -> None:
    server = Server("asks", "1", limits=Limits(drain_wait=30))

    @server.tool
    async def where(ctx: Context) -> str:
        return str(await ctx.roots())

    client = Client(server.asgi())
    session = await client.session(capabilities={"roots": {}})
    call = session.call("where")
    await call.until(lambda call: call.messages)
    draining = asyncio.ensure_future(client.app.drain())
    await asyncio.sleep(0)  # by now it has begun
    another = await session.call("where").until_over()
    assert (another.status, "shutting down" in another.error["message"]) == (503, True)
    garbled = await session.post(b"[]").until_over()
    assert garbled.status == 503
    answer = {"jsonrpc": "2.0", "id": call.messages[0]["id"], "result": {"roots": []}}
    assert (await session.post(answer).until_over()).status == 202
    await call.until_over()
    assert call.messages[-1]["result"]["content"][0]["text"] == "[]"
    await draining
    assert (await session.post(answer).until_over()).status == 503


@pytest.mark.parametrize("in_session", [False, True])
async def test_what_is_cut_off_at_the_end_is_told_so(in_session: bool) -> None:
    server = Server("slow", "1", limits=Limits())

    @server.tool
    async def stuck(ctx: Context, tells: bool) -> str:
        if tells:
            await ctx.log("error", "stuck")
        await asyncio.Event().wait()
        return ""

    async with serving(server) as client:
        session = await client.session() if in_session else None
        call = session.call if session else client.call
        meta = {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}
        calls = [call("stuck", {"tells": tells}, more=meta) for tells in (False, True)]
        await calls[1].until_begun()
        await client.app.drain()
        for each in calls:
            await each.until_over()
            last = each.messages[-1] if each.is_stream else each.json
            assert "shutting down" in last["error"]["message"]


# ---- memory


IDLE = 400
MOST = 8000
"""Bytes of each stream; `python -m bench idle` has 5 000 of them on sockets."""
TRIES = 3
"""Measurements of one kind: what a process allocates once is not a cost of each stream."""


async def _bare(scope: object, receive: object, send: object) -> None:
    """The least that a stream of ASGI is."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
    await receive()
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cost(client: Client, kind: str) -> float:
    """Bytes for each idle stream."""
    for number in range(2 * IDLE):
        if number == IDLE:
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
        if kind == "get":
            stream = (await client.session()).get()
            del client.open[-3:-1]
        elif kind == "listen":
            stream = client.request("subscriptions/listen", LISTEN)
        else:
            stream = client.begin("GET", "/sse", GET)
        await stream.until_begun()
        await asyncio.sleep(0)
    gc.collect()
    return (tracemalloc.get_traced_memory()[0] - before) / IDLE


async def _served(kind: str) -> float:
    async with serving() as client:
        return await _cost(client, kind)


@pytest.mark.wide
@pytest.mark.parametrize("kind", ["get", "sse", "listen"])
async def test_an_idle_stream_costs_at_most_8000_bytes_more_than_a_bare_one(kind: str) -> None:
    tracemalloc.start()
    try:
        bare = Client(_bare)
        least = await _cost(bare, "bare")
        for response in bare.open:
            response.disconnect()
        await asyncio.gather(*(each.task for each in bare.open))
        costs = [await _served(kind) - least]
        while costs[-1] >= MOST and len(costs) < TRIES:
            costs.append(await _served(kind) - least)
        assert 0 < costs[-1] < MOST, costs
    finally:
        tracemalloc.stop()


async def test_a_session_that_is_given_up_is_forgotten_by_the_store() -> None:
    client, clock = Client(talker(session_idle=600.0).asgi()), Clock()
    session = await client.session()
    await session.call("talk").until_over()
    assert counts(client)["stored"] == 1
    await clock.forward(700)
    await until(lambda: counts(client)["stored"] == 0)


def test_a_slope_is_told_with_its_error() -> None:
    line = [(x / 10, 7 + 3 * x / 10) for x in range(20)]
    assert slope(line) == pytest.approx((3, 0))
    wavering = [(x, y + (-1) ** number) for number, (x, y) in enumerate(line)]
    estimate, error = slope(wavering)
    assert error == pytest.approx(math.sqrt(20 / 18 / 6.65), rel=0.02)
    assert abs(estimate - 3) < 2 * error
    assert slope(line[:2]) == (0, math.inf)
