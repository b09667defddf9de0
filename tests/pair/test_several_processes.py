"""Several processes serve the same clients through Redis or SQLite, whichever is asked."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mcp_runtime import Client
from mcp_runtime.client.subscription import Change
from mcp_runtime.errors import RemoteError
from mcp_runtime.revisions import latest
from mcp_runtime.stores.opening import store_at
from tests.support.patience import until
from tests.support.random_proxy import random_proxy
from tests.support.redis_server import RedisServer

pytestmark = pytest.mark.real_time

SHAKEN = "2025-11-25"
PER_REQUEST = "2026-07-28"


@dataclass
class Place:
    """The processes, and a port that leads to any of them."""

    processes: dict[int, Process]
    """By port."""
    port: int
    routes: _Living

    @property
    def pids(self) -> dict[int, Process]:
        return {process.pid: process for process in self.processes.values()}

    def client(self, revision: str = SHAKEN, **options: Any) -> Client:
        url = f"http://127.0.0.1:{self.port}/mcp"
        return Client.http(url, revisions=[revision], **options)


@asynccontextmanager
async def served(store: str, count: int = 2) -> AsyncGenerator[Place]:
    seed = secrets.randbits(32)
    sys.stdout.write(f"routes are drawn with the seed {seed}\n")
    keys = {"MCP_STATE_KEYS": secrets.token_hex(32)}
    processes = await asyncio.gather(*(_started(store, keys) for _ in range(count)))
    ports = {await _port(process): process for process in processes}
    try:
        routes = _Living(ports)
        async with random_proxy(routes, Random(seed)) as port:
            yield Place(ports, port, routes)
    finally:
        for process in processes:
            if process.returncode is None:
                process.terminate()
        async with asyncio.timeout(20):
            await asyncio.gather(*(process.communicate() for process in processes))


class _Living(list[int]):
    """The ports of the processes that live."""

    def __init__(self, ports: dict[int, Process]) -> None:
        super().__init__(ports)
        self._ports = ports
        self.leaving: set[Process] = set()
        """Those that a health check would take out of the rotation."""

    def __len__(self) -> int:
        self[:] = [
            port
            for port, process in self._ports.items()
            if process.returncode is None and process not in self.leaving
        ]
        return super().__len__()


async def _started(store: str, keys: dict[str, str]) -> Process:
    target = "tests.support.shared_server"
    command = ["-m", "mcp_bindgen", "run", target, "--http", "127.0.0.1:0", "--store", store]
    return await asyncio.create_subprocess_exec(
        sys.executable, *command, stdout=PIPE, stderr=PIPE, env={**os.environ, **keys}
    )


async def _port(process: Process) -> int:
    assert process.stderr is not None
    async with asyncio.timeout(30):
        while line := await process.stderr.readline():
            if match := re.search(rb"MCP at http://127.0.0.1:(\d+)/", line):
                return int(match[1])
    raise AssertionError("the server has ended")


def text(result: Any) -> str:
    return str(result.content[0].text)


def run(main: Callable[[], Awaitable[None]], seconds: float = 60) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await main()

    asyncio.run(bounded())


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


async def test_no_call_of_a_session_fails_whichever_process_is_asked(store: str) -> None:
    await _call_everywhere(store, 160)


@pytest.mark.long
def test_no_call_of_100_000_fails_whichever_process_is_asked(redis: RedisServer) -> None:
    run(lambda: _call_everywhere(redis.url, 100_000), 1800)


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


async def test_a_call_whose_process_is_killed_is_answered_with_an_error(store: str) -> None:
    logged = list[Any]()
    async with served(store) as place:
        client = place.client(on_log=lambda params: logged.append(params.data))
        async with client:
            call = asyncio.create_task(client.call_tool("tell", {"count": 1000}))
            await until(lambda: len(logged) >= 3, seconds=10)
            place.pids[logged[0]["process"]].kill()
            with pytest.raises(RemoteError, match="has ended") as raised:
                await call
            assert raised.value.data == {"reason": "process-ended"}
            numbers = [each["number"] for each in logged]
            assert numbers == [*range(len(numbers))]
            for _ in range(8):
                assert text(await client.call_tool("who", {})) != str(logged[0]["process"])


async def test_a_process_that_is_told_to_end_hands_its_sessions_over(store: str) -> None:
    logged = list[Any]()
    async with served(store) as place:
        client = place.client(on_log=lambda params: logged.append(params.data))
        async with client:
            call = asyncio.create_task(client.call_tool("tell", {"count": 10}))
            await until(lambda: bool(logged), seconds=10)
            leaving = place.pids[worker := logged[0]["process"]]
            place.routes.leaving.add(leaving)
            leaving.send_signal(signal.SIGTERM)
            assert text(await call) == str(worker)
            await leaving.wait()
            for _ in range(8):
                other = int(text(await client.call_tool("who", {})))
                assert other in place.pids.keys() - {worker}


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
            async with asyncio.timeout(20):
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


async def test_a_store_that_is_away_is_an_error_at_once_and_calls_go_on_when_it_is_back(
    redis: RedisServer,
) -> None:
    await _call_through_an_outage(redis, 0)


@pytest.mark.long
def test_a_store_that_is_away_for_30_seconds_is_used_again_without_a_restart(
    redis: RedisServer,
) -> None:
    run(lambda: _call_through_an_outage(redis, 30), 180)


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

    run(main, 600)


def _kilobytes(pid: int) -> int:
    """The resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


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
