"""Clients of both eras beside a server of tasks, over each transport and several processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.errors import RemoteError, SessionError, TimedOut
from mcp_runtime.extensions.tasks import ClientTasks, TaskCancelled, TaskHandle
from mcp_runtime.revisions import ALL, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.transports.child_process import spawn
from mcp_wire.ext.tasks.handlers_msgspec import models as m
from tests.support import task_server
from tests.support.json_peers import RawClient, connected
from tests.support.patience import until
from tests.support.served_processes import PER_REQUEST, served
from tests.support.task_server import Place, started, text, working
from tests.support.uvicorn_served import served as in_memory

STDIO: Final = pytest.param("stdio", marks=pytest.mark.real_time)
TRANSPORTS: Final = ("memory", STDIO, "http")
HANDSHAKE: Final = tuple(name for name in ALL if revision(name).era == "handshake")
CORE: Final = "2025-11-25"
COMMAND: Final = [sys.executable, "-m", task_server.__name__]


@asynccontextmanager
async def clients(transport: str) -> AsyncGenerator[Callable[..., Client]]:
    """Makes clients of one server of tasks."""
    if transport == "memory":
        yield partial(Client, Place().server)
    elif transport == "stdio":
        yield partial(Client.stdio, COMMAND, stderr="drop")
    else:
        async with in_memory(Place().server.asgi(), lifespan="on") as origin:
            yield partial(Client.http, f"{origin}/mcp")


async def _named(params: Any) -> t.ElicitResult:
    return t.ElicitResult(action="accept", content={"name": params.message})


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_client_with_tasks_has_their_results_errors_and_ends(transport: str) -> None:
    tasks = ClientTasks()
    async with clients(transport) as make, make(extensions=[tasks], on_elicit=_named) as client:
        assert text(await client.call_tool("greet", {"name": "Bo"})) == "Hello, Bo!"
        assert text(await client.call_tool("plain", {"word": "ab"})) == "abab"
        result = await client.call_tool("twice")
        assert text(result) == "Name(name='first?') Name(name='second?')"
        assert text(await client.call_tool("named")) == "Name(name='name?') in a task"
        with pytest.raises(RemoteError, match="broken"):
            await client.call_tool("failing", {"kind": "error"})
        assert (await client.call_tool("failing", {"kind": "value"})).is_error is True
        with pytest.raises(TimedOut):
            await client.call_tool("slow", timeout=2.0)
        handle = await working(client, tasks)
        await handle.cancel()
        with pytest.raises(TaskCancelled):
            await handle.result()
        with pytest.raises(RemoteError, match="Unknown task"):
            await TaskHandle(client, handle.id[::-1]).state()


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_task_that_asks_twice_is_cancelled_while_it_waits(transport: str) -> None:
    tasks = ClientTasks()
    async with clients(transport) as make, make(extensions=[tasks], on_elicit=_named) as client:
        handle = await started(client, tasks, "twice")
        first = await _question(handle)
        await handle.update({first: await _named(t.ElicitRequestURLParams(message="", url=""))})
        assert await _question(handle, first) != first
        await handle.cancel()
        with pytest.raises(TaskCancelled):
            await handle.result()


async def _question(handle: TaskHandle, before: str = "") -> str:
    """The key of the task's question, when it is another than before."""
    keys = list[str]()

    async def is_another() -> bool:
        state = await handle.state()
        keys[:] = state.input_requests if isinstance(state, m.GetTaskResultInputRequired) else ()
        return keys not in ([], [before])

    await until(is_another, every=0.01)
    (key,) = keys
    return key


@pytest.mark.parametrize("spoken", [*HANDSHAKE, PER_REQUEST])
@pytest.mark.parametrize(
    "transport",
    ["memory", pytest.param("stdio", marks=[pytest.mark.real_time, pytest.mark.drawn]), "http"],
)
async def test_a_client_without_tasks_is_answered_in_the_ordinary_way(
    transport: str, spoken: str
) -> None:
    async with clients(transport) as make, make(revisions=[spoken]) as client:
        assert text(await client.call_tool("greet", {"name": "Bo"})) == "Hello, Bo!"
        assert text(await client.call_tool("plain", {"word": "ab"})) == "abab"
        with pytest.raises(RemoteError) as refused:
            await client.call_tool("failing", {"kind": "value"})
        assert refused.value.code == (-32601 if spoken in HANDSHAKE else -32021)


@pytest.mark.parametrize("transport", ["memory", STDIO])
async def test_a_client_of_the_core_has_tasks_on_each_wire(transport: str) -> None:
    async with core_client(transport) as client:
        assert client.result_of_initialize["capabilities"]["tasks"]
        id = await _begun(client, "plain", word="ab")
        result = await client.result("tasks/result", {"taskId": id})
        assert result["content"] == [{"type": "text", "text": "abab"}]
        state = await client.result("tasks/get", {"taskId": id})
        assert (state["taskId"], state["status"]) == (id, "completed")
        waiting = client.call("tasks/result", {"taskId": await _begun(client, "twice")})
        for name in ("Ann", "Bo"):
            question = await client.next("elicitation/create")
            client.answer(question["id"], {"action": "accept", "content": {"name": name}})
        answer = await client.response(waiting)
        expected = "Name(name='Ann') Name(name='Bo')"
        assert answer["result"]["content"] == [{"type": "text", "text": expected}]
        id = await _begun(client, "slow")
        waiting = client.call("tasks/result", {"taskId": id})
        assert (await client.result("tasks/get", {"taskId": id}))["status"] == "working"
        assert (await client.result("tasks/cancel", {"taskId": id}))["status"] == "cancelled"
        assert (await client.response(waiting))["error"]["code"] == -32603
        assert (await client.error("tasks/cancel", {"taskId": id}))["code"] == -32602


@asynccontextmanager
async def core_client(transport: str) -> AsyncGenerator[RawClient]:
    """A raw client of the revision whose core has tasks, which can be asked for forms."""
    forms: dict[str, Any] = {"elicitation": {}}
    if transport == "memory":
        async with connected(Place().server, CORE, forms) as client:
            yield client
    else:
        wire = await spawn(COMMAND, stderr="drop")
        client = RawClient(wire, CORE, forms)
        try:
            await client.shake_hands()
            yield client
        finally:
            await client.end()


async def _begun(client: RawClient, name: str, **arguments: Any) -> str:
    """The id of a new task."""
    params = {"name": name, "arguments": arguments, "task": {}}
    id: str = (await client.result("tools/call", params))["task"]["taskId"]
    return id


# ---- several processes


@pytest.mark.real_time
async def test_tasks_are_polled_and_answered_in_any_process(store: str) -> None:
    async with served(store) as place:
        options = {"extensions": [ClientTasks()], "on_elicit": _sure}
        async with place.client(PER_REQUEST, **options) as client:
            jobs = [client.call_tool("job", {"seconds": 0.2}) for _ in range(20)]
            asking = [client.call_tool("asking_job") for _ in range(10)]
            workers = {text(result) for result in await asyncio.gather(*jobs)}
            assert workers <= {str(pid) for pid in place.pids}
            answers = {text(result) for result in await asyncio.gather(*asking)}
            assert answers == {"Sure(yes=True) Sure(yes=True)"}


async def _sure(params: Any) -> t.ElicitResult:
    return t.ElicitResult(action="accept", content={"yes": True})


@pytest.mark.wide
@pytest.mark.real_time
async def test_a_task_whose_process_is_killed_has_failed(store: str) -> None:
    async with served(store) as place:
        tasks = ClientTasks()
        async with place.client(PER_REQUEST, extensions=[tasks]) as client:
            handle = await started(client, tasks, "job", seconds=600)
            place.pids[await runner(handle)].kill()
            with pytest.raises(RemoteError, match="the process that ran the task is gone"):
                await outcome(handle)


async def runner(handle: TaskHandle, before: Collection[int] = ()) -> int:
    """The process that runs a task, none of those before."""
    said = list[int]()

    async def is_said() -> bool:
        with passed_over_if_lost():
            message = (await handle.state()).status_message
            said[:] = [int(message)] if isinstance(message, str) else ()
        return bool(said) and said[0] not in before

    await until(is_said, every=0.1)
    return said[0]


async def outcome(handle: TaskHandle) -> object:
    """Of a task whose polls may meet the process that dies."""
    ended = list[object]()

    async def is_over() -> bool:
        with passed_over_if_lost():
            ended.append(await handle.result())
        return bool(ended)

    await until(is_over, every=0.1)
    return ended[0]


@contextmanager
def passed_over_if_lost() -> Iterator[None]:
    """Pass over an answer that was lost with its process; what the server refuses is raised."""
    try:
        yield
    except RemoteError:
        raise
    except SessionError:
        return
