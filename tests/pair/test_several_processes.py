"""Several processes serve the same clients through Redis or SQLite, whichever is asked."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from mcp_runtime import Client
from mcp_runtime.client.subscription import Change
from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import latest
from mcp_runtime.stores.opening import store_at
from tests.support.async_tests import run_in_real_time
from tests.support.patience import until
from tests.support.redis_server import RedisServer
from tests.support.served_processes import PER_REQUEST, SHAKEN, served

pytestmark = pytest.mark.real_time


def text(result: Any) -> str:
    return str(result.content[0].text)


async def yes(params: Any) -> latest.ElicitResult:
    return latest.ElicitResult(action="accept", content={"yes": True})


# ---- requests


async def _call_everywhere(store: str, calls: int) -> None:
    async with served(store) as place, place.client() as client:
        answers = Counter[str]()
        while answers.total() < calls:
            results = await asyncio.gather(*(client.call_tool("who", {}) for _ in range(16)))
            answers.update(map(text, results))
        assert {*map(int, answers)} == {*place.pids}


@pytest.mark.wide
async def test_no_call_of_a_session_fails_whichever_process_is_asked(store: str) -> None:
    await _call_everywhere(store, 160)


@pytest.mark.long
def test_no_call_of_100_000_fails_whichever_process_is_asked(redis: RedisServer) -> None:
    run_in_real_time(lambda: _call_everywhere(redis.url, 100_000), 1800)


@pytest.mark.parametrize("revision", [SHAKEN, PER_REQUEST])
async def test_what_a_handler_asks_is_answered_through_any_process(
    store: str, revision: str
) -> None:
    async with served(store) as place:
        client = place.client(revision, on_elicit=yes)
        async with client:
            asked = (client.call_tool("confirm", {}) for _ in range(20))
            answers = [text(result) for result in await asyncio.gather(*asked)]
        assert all(answer.startswith("Sure(yes=True) ") for answer in answers)


async def test_the_process_of_a_stream_of_http_sse_answers_whichever_is_asked(store: str) -> None:
    async with served(store) as place:
        url = f"http://127.0.0.1:{place.port}/sse"
        async with Client.http(url, revisions=["2024-11-05"]) as client:
            asked = (client.call_tool("who", {}) for _ in range(20))
            (pid,) = {int(text(result)) for result in await asyncio.gather(*asked)}
            assert pid in place.pids


async def test_a_change_in_one_process_is_heard_by_clients_of_all(store: str) -> None:
    async with served(store) as place, AsyncExitStack() as stack:
        clients = [place.client(revision) for revision in (SHAKEN, PER_REQUEST) * 4]
        subscriptions = []
        for client in clients:
            await stack.enter_async_context(client)
            changes = client.listen(uris=["note://one"])
            subscriptions.append(await stack.enter_async_context(changes))
        waiting = [asyncio.create_task(anext(changes)) for changes in subscriptions]
        while not all(each.done() for each in waiting):
            await clients[0].call_tool("change", {})
            await asyncio.sleep(0.05)
        assert {each.result() for each in waiting} == {Change("resource", "note://one")}


# ---- processes that die


@pytest.mark.wide
async def test_a_call_whose_process_is_killed_is_answered_with_an_error(store: str) -> None:
    logged = list[Any]()
    async with served(store) as place:
        client = place.client(on_log=lambda params: logged.append(params.data))
        async with client:
            call = asyncio.create_task(client.call_tool("tell", {"count": 1000}))
            await until(lambda: len(logged) >= 3)
            place.pids[logged[0]["process"]].kill()
            with pytest.raises(RemoteError, match="has ended") as raised:
                await call
            assert raised.value.data == {"reason": "process-ended"}
            numbers = [each["number"] for each in logged]
            assert numbers == [*range(len(numbers))]
            for _ in range(8):
                assert text(await client.call_tool("who", {})) != str(logged[0]["process"])


@pytest.mark.wide
async def test_a_process_that_is_told_to_end_hands_its_sessions_over(store: str) -> None:
    logged = list[Any]()
    async with served(store) as place:
        client = place.client(on_log=lambda params: logged.append(params.data))
        async with client:
            call = asyncio.create_task(client.call_tool("tell", {"count": 10}))
            await until(lambda: bool(logged))
            leaving = place.pids[worker := logged[0]["process"]]
            place.leaving.add(leaving)
            leaving.terminate()
            assert text(await call) == str(worker)
            await until(lambda: leaving.poll() is not None)
            for _ in range(8):
                other = int(text(await client.call_tool("who", {})))
                assert other in place.others(worker)


# ---- the store goes away


async def _call_through_an_outage(redis: RedisServer, seconds: float) -> None:
    async with served(redis.url) as place, AsyncExitStack() as stack:
        client, without_session = (place.client(each) for each in (SHAKEN, PER_REQUEST))
        for each in (client, without_session):
            await stack.enter_async_context(each)
        listening = without_session.listen(uris=["note://one"])
        changes = await stack.enter_async_context(listening)
        assert text(await client.call_tool("who", {}))
        redis.stop()
        end, refused = time.monotonic() + seconds, 0
        while refused < 3 or time.monotonic() < end:
            with pytest.raises(RemoteError, match="cannot be reached"):
                await client.call_tool("who", {})
            assert text(await without_session.call_tool("who", {}))
            refused += 1
            await asyncio.sleep(seconds / 60)
        redis.start()
        async with place.client() as again:  # a store in memory alone has forgotten the first
            assert text(await again.call_tool("who", {}))
        change = asyncio.create_task(anext(changes))
        while not change.done():
            await without_session.call_tool("change", {})
            await asyncio.sleep(0.05)
        assert change.result() == Change("resource", "note://one")


@pytest.mark.wide
async def test_a_store_that_is_away_is_an_error_at_once_and_calls_go_on_when_it_is_back(
    redis: RedisServer,
) -> None:
    await _call_through_an_outage(redis, 0)


@pytest.mark.long
def test_a_store_that_is_away_for_30_seconds_is_used_again_without_a_restart(
    redis: RedisServer,
) -> None:
    run_in_real_time(lambda: _call_through_an_outage(redis, 30), 180)


@pytest.mark.long
def test_processes_do_not_grow_with_sessions_that_have_ended(redis: RedisServer) -> None:
    async def main() -> None:
        async with served(redis.url) as place:
            sizes = list[int]()
            for _ in range(3):
                for _ in range(200):
                    async with place.client() as each:
                        await each.call_tool("tell", {"count": 3, "every": 0})
                sizes.append(sum(map(_kilobytes, place.pids)))
            sys.stdout.write(f"after 200, 400 and 600 sessions the processes have {sizes} kB\n")
            assert sizes[2] - sizes[1] < 4_000, sizes

    run_in_real_time(main, 600)


def _kilobytes(pid: int) -> int:
    """The resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@pytest.mark.wide
async def test_nothing_is_left_in_redis_of_sessions_that_have_ended(redis: RedisServer) -> None:
    async with store_at(redis.url) as store:
        client = store._server.client
        await client.flushdb()
        async with served(redis.url) as place:
            for _ in range(5):
                async with place.client() as each:
                    await each.call_tool("tell", {"count": 3, "every": 0})
            kept = [key.decode() for key in await client.keys()]
            assert not [key for key in kept if key.endswith((":events", ":order"))]
        for key in await client.keys():
            assert await client.pttl(key) > 0, "only what expires by itself is left"
