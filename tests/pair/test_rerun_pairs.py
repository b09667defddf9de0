"""Calls that may be run again are, when one process of several is killed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from mcp_runtime.core.wire.sse import Event, Events
from mcp_runtime.errors import RemoteError
from mcp_runtime.extensions.tasks import ClientTasks
from mcp_runtime.revisions import latest
from tests.pair.test_several_processes import text
from tests.pair.test_task_pairs import outcome, runner
from tests.support.asgi_client import GET, POST, initialize
from tests.support.patience import until
from tests.support.served_processes import PER_REQUEST, Place, served
from tests.support.task_server import started

pytestmark = pytest.mark.real_time


@pytest.mark.wide
async def test_a_call_whose_process_is_killed_is_run_again_by_another(
    store: str, tmp_path: Path
) -> None:
    logged, ready = list[Any](), tmp_path / "ready"
    async with served(store) as place:
        client = place.client(on_log=lambda params: logged.append(params.data))
        async with client:
            called = client.call_tool("tell_again", {"count": 5, "until": str(ready)})
            call = asyncio.create_task(called)
            await until(lambda: len(logged) >= 3)
            first = logged[0]["process"]
            place.pids[first].kill()
            ready.touch()
            second = int(text(await call))
            assert second in place.others(first)
            before = sum(each["process"] == first for each in logged)
            assert logged == [
                *({"number": number, "process": first} for number in range(before)),
                *({"number": number, "process": second} for number in range(5)),
            ]


@pytest.mark.wide
async def test_what_the_call_asks_again_is_answered_to_the_process_that_runs_it(store: str) -> None:
    logged, asked = list[Any](), list[str]()

    async def answer(params: Any) -> latest.ElicitResult:
        asked.append(params.message)
        if len(asked) == 1:
            place.pids[logged[0]["process"]].kill()
            await asyncio.Event().wait()
        return latest.ElicitResult(action="accept", content={"yes": True})

    async with served(store) as place:
        client = place.client(on_log=lambda params: logged.append(params.data), on_elicit=answer)
        async with client:
            result = text(await client.call_tool("confirm_again"))
            assert result == f"Sure(yes=True) {logged[1]['process']}"
            assert (len(asked), len(logged)) == (2, 2)


@pytest.mark.wide
async def test_a_call_that_kills_each_process_ends_in_the_error_after_one_more(store: str) -> None:
    killed = list[int]()

    def kill(params: Any) -> None:
        killed.append(params.data["process"])
        place.pids[killed[-1]].kill()

    async with served(store) as place, place.client(on_log=kill) as client:
        with pytest.raises(RemoteError, match="has ended") as raised:
            await client.call_tool("tell_again", {"count": 1, "until": "never"})
        assert raised.value.data == {"reason": "process-ended"}
        assert len(killed) == 2
        (third,) = place.pids.keys() - {*killed}
        assert text(await client.call_tool("who", {})) == str(third)


async def test_two_that_follow_at_two_processes_see_it_run_once(store: str, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    async with served(store) as place:
        owner, *others = place.processes
        session, last = await asyncio.to_thread(_called, owner, ready)
        following = [
            asyncio.create_task(asyncio.to_thread(_rest, port, session, last)) for port in others
        ]
        await asyncio.sleep(0)
        place.processes[owner].kill()
        ready.touch()
        one, other = await asyncio.gather(*following)
        assert [(each.id, each.data) for each in one] == [(each.id, each.data) for each in other]
        _require_one_run(place, one)


# ---- tasks


@pytest.mark.wide
async def test_a_task_whose_process_is_killed_is_run_again_by_another(
    store: str, tmp_path: Path
) -> None:
    ready, tasks = tmp_path / "ready", ClientTasks()
    async with served(store) as place, place.client(PER_REQUEST, extensions=[tasks]) as client:
        handle = await started(client, tasks, "job_again", until=str(ready))
        first = await runner(handle)
        place.pids[first].kill()
        second = await runner(handle, {first})
        assert second in place.others(first)
        ready.touch()
        assert text(await outcome(handle)) == str(second)


@pytest.mark.wide
async def test_a_task_that_kills_each_process_ends_in_the_error_after_one_more(store: str) -> None:
    tasks, killed = ClientTasks(), set[int]()
    async with served(store) as place, place.client(PER_REQUEST, extensions=[tasks]) as client:
        handle = await started(client, tasks, "job_again", until="never")
        for _ in range(2):
            killed.add(pid := await runner(handle, killed))
            place.pids[pid].kill()
        with pytest.raises(RemoteError, match="the process that ran the task is gone"):
            await outcome(handle)
        assert {*place.pids} > killed


# ---- streams by hand


def _require_one_run(place: Place, events: list[Event]) -> None:
    """One process has said everything, after what the first had stored, and has answered."""
    owner = next(iter(place.processes.values())).pid
    *logged, answer = [json.loads(event.data) for event in events if event.data]
    said = [each["params"]["data"] for each in logged]
    again = [each["number"] for each in said if each["process"] != owner]
    assert again == [*range(5)]
    (pid,) = {each["process"] for each in said} - {owner}
    assert answer["result"]["content"][0]["text"] == str(pid)
    assert len({event.id for event in events}) == len(events)


def _called(port: int, until: Path) -> tuple[dict[str, str], str]:
    """The headers of a session whose call has begun, and the id of the call's first event."""
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        response = _asked(connection, initialize("2025-11-25"), {})
        session = {
            "mcp-session-id": response.headers["mcp-session-id"],
            "mcp-protocol-version": "2025-11-25",
        }
        response.read()
        _asked(
            connection, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session
        ).read()
        call = {"name": "tell_again", "arguments": {"count": 5, "until": str(until)}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        events = _events(_asked(connection, message, session))
        return session, next(event.id for event in events if event.data) or ""


def _rest(port: int, session: Mapping[str, str], last: str) -> list[Event]:
    with ExitStack() as stack:
        connection = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=60)))
        connection.request("GET", "/mcp", headers={**GET, **session, "last-event-id": last})
        return [*_events(connection.getresponse())]


def _asked(connection: HTTPConnection, message: Any, headers: Mapping[str, str]) -> Any:
    connection.request("POST", "/mcp", json.dumps(message), {**POST, **headers})
    return connection.getresponse()


def _events(response: Any) -> Iterator[Event]:
    parser = Events(1 << 20)
    while data := response.read1(65_536):
        yield from (each for each in parser.feed(data) if isinstance(each, Event))
