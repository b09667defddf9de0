"""What several processes do for each other goes well every time: a few rounds, and in long many."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from mcp_runtime.errors import RemoteError
from mcp_runtime.stores.opening import store_at
from tests.pair.test_several_processes import text, yes
from tests.support.asgi_client import BOTH, mirrors, request
from tests.support.async_tests import run_in_real_time
from tests.support.patience import until
from tests.support.redis_server import RedisServer
from tests.support.served_processes import SHAKEN, served

AT_ONCE = 20


# ---- the owner of a stream is killed


async def _kill_owners(redis: RedisServer, rounds: int) -> None:
    async with store_at(redis.url) as store:
        for _ in range(rounds):
            await store._server.client.flushdb()
            await _kill_an_owner(redis.url, store._server.client)


async def _kill_an_owner(url: str, redis: Any) -> None:
    logged = list[Any]()
    async with (
        served(url) as place,
        place.client(on_log=lambda params: logged.append(params.data)) as client,
    ):
        call = asyncio.create_task(client.call_tool("tell", {"count": 10_000}))
        await until(lambda: len(logged) >= 3)
        place.pids[logged[0]["process"]].kill()
        with pytest.raises(RemoteError, match="has ended") as raised:
            await call
        assert raised.value.data == {"reason": "process-ended"}
        delivered = [each["number"] for each in logged]
        assert delivered == [*range(len(delivered))]
        assert delivered == await _stored(redis)
        assert text(await client.call_tool("who", {})) != str(logged[0]["process"])


async def _stored(redis: Any) -> list[int]:
    """The numbers in the events that are kept of the only session."""
    (key,) = await redis.keys("mcp:*:events")
    messages = [json.loads(data) for data in await redis.hvals(key) if data.startswith(b"{")]
    return sorted(each["params"]["data"]["number"] for each in messages if "params" in each)


@pytest.mark.wide
@pytest.mark.real_time
async def test_a_client_gets_each_stored_event_once_when_its_process_is_killed(
    redis: RedisServer,
) -> None:
    await _kill_owners(redis, 1)


@pytest.mark.long
def test_a_client_gets_each_stored_event_once_in_50_kills(redis: RedisServer) -> None:
    run_in_real_time(lambda: _kill_owners(redis, 50), 3600)


async def _run_again(redis: RedisServer, until_file: Path, rounds: int) -> None:
    for number in range(rounds):
        logged, ready = list[Any](), until_file.with_suffix(f".{number}")
        async with (
            served(redis.url) as place,
            place.client(on_log=lambda params, logged=logged: logged.append(params.data)) as client,
        ):
            called = client.call_tool("tell_again", {"count": 5, "until": str(ready)})
            call = asyncio.create_task(called)
            await until(lambda logged=logged: bool(logged))
            first = logged[0]["process"]
            place.pids[first].kill()
            ready.touch()
            second = int(text(await call))
            assert second in place.others(first)
            again = [each["number"] for each in logged if each["process"] == second]
            assert again == [*range(5)]


@pytest.mark.long
def test_a_call_that_may_run_twice_is_answered_in_30_kills(
    redis: RedisServer, tmp_path: Path
) -> None:
    run_in_real_time(lambda: _run_again(redis, tmp_path / "ready", 30), 3600)


# ---- what a handler asks


async def _elicit(redis: RedisServer, calls: int) -> None:
    async with served(redis.url) as place, place.client(SHAKEN, on_elicit=yes) as client:
        for _ in range(calls // AT_ONCE):
            asked = (client.call_tool("confirm", {}) for _ in range(AT_ONCE))
            answers = [text(result) for result in await asyncio.gather(*asked)]
            assert all(answer.startswith("Sure(yes=True) ") for answer in answers), answers


@pytest.mark.long
def test_2000_calls_that_ask_their_client_all_complete(redis: RedisServer) -> None:
    run_in_real_time(lambda: _elicit(redis, 2_000), 1800)


# ---- requestState


def _posted(connection: HTTPConnection, message: dict[str, Any]) -> dict[str, Any]:
    """The result of a request."""
    headers = {"Content-Type": "application/json", "Accept": BOTH, **mirrors(message)}
    connection.request("POST", "/mcp", json.dumps(message), headers)
    response = connection.getresponse()
    body = response.read()
    assert response.status == 200, body
    result: dict[str, Any] = json.loads(body.rpartition(b"data: ")[2])["result"]
    return result


def _retry_elsewhere(pids: Mapping[int, int], calls: int) -> None:
    """Each process is asked in turn, and the next gets the retry; `pids` are by port."""
    with ExitStack() as stack:
        places = [
            (stack.enter_context(closing(HTTPConnection("127.0.0.1", port))), pid)
            for port, pid in pids.items()
        ]
        for number in range(calls):
            (one, _), (other, pid) = places[number % 2], places[(number + 1) % 2]
            asked = _posted(one, _confirm())
            (key,) = asked["inputRequests"]
            responses = {key: {"action": "accept", "content": {"yes": True}}}
            state = asked["requestState"]
            answer = _posted(other, _confirm(inputResponses=responses, requestState=state))
            assert answer["content"][0]["text"] == f"Sure(yes=True) {pid}", (number, answer)


def _confirm(**retry: Any) -> dict[str, Any]:
    call = {"name": "confirm", "arguments": {}, **retry}
    return request("tools/call", call, capabilities={"elicitation": {}})


async def _retry(redis: RedisServer, calls: int) -> None:
    async with served(redis.url, 2) as place:
        pids = {port: process.pid for port, process in place.processes.items()}
        await asyncio.to_thread(_retry_elsewhere, pids, calls)


@pytest.mark.wide
@pytest.mark.real_time
async def test_a_request_is_retried_with_its_state_at_the_other_process(redis: RedisServer) -> None:
    await _retry(redis, 100)


@pytest.mark.long
def test_each_of_10_000_requests_is_retried_with_its_state_at_the_other_process(
    redis: RedisServer,
) -> None:
    run_in_real_time(lambda: _retry(redis, 10_000), 1800)
