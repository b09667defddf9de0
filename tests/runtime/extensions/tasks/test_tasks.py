"""Tools whose calls become tasks, from one side to the other in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_runtime import Client, Limits
from mcp_runtime.errors import RemoteError, TimedOut
from mcp_runtime.extensions.tasks import TaskCancelled, TaskHandle
from mcp_runtime.revisions import latest as t
from mcp_wire.ext.tasks.handlers_msgspec import models as m
from tests.support.patience import until
from tests.support.task_server import FAST, Place, started, text, working
from tests.support.virtual_time import elapse


async def test_a_call_returns_the_result_whether_or_not_it_became_a_task() -> None:
    place, seen = Place(), list[Any]()
    place.go.set()
    async with place.client() as (client, _):
        assert text(await client.call_tool("greet", {"name": "Bo"})) == "Hello, Bo!"
        assert text(await client.call_tool("plain", {"word": "ab"})) == "abab"
        progress = lambda *said: seen.append(said)  # noqa: E731
        assert text(await client.call_tool("slow", on_progress=progress)) == "done"
        await place.is_idle()
    async with Client(place.server) as client:
        assert text(await client.call_tool("slow")) == "done"
        assert place.tasks.running == 0


async def test_progress_becomes_the_message_of_the_task() -> None:
    place = Place()
    async with place.client() as (client, tasks):
        handle = await working(client, tasks)
        place.go.set()
        assert text(await handle.result()) == "done"


async def test_a_task_asks_its_client_through_its_state() -> None:
    place = Place()
    async with place.client() as (client, tasks):
        result = await client.call_tool("twice")
        assert text(result) == "Name(name='first?') Name(name='second?')"
        assert place.log == ["first?", "second?"]
        handle = await started(client, tasks, "twice")
        key = await question_key(handle)
        answer = t.ElicitResult(action="decline")
        await handle.update({"unknown": answer})
        assert await question_key(handle) == key
        with pytest.raises(RemoteError, match="an answer to elicitation/create"):
            await handle.update({key: t.ListRootsResult(roots=[])})
        await handle.update({key: answer, "unknown": answer})
        assert await question_key(handle) != key
        await handle.cancel()
        with pytest.raises(TaskCancelled):
            await handle.result()
        await place.is_idle()


async def question_key(handle: TaskHandle) -> str:
    """The key of the task's only question."""
    async with asyncio.timeout(10):
        while not isinstance(state := await handle.state(), m.GetTaskResultInputRequired):
            await elapse(FAST)
    (key,) = state.input_requests
    return key


async def test_a_tool_may_ask_before_its_call_becomes_a_task() -> None:
    place = Place()
    async with place.client() as (client, _):
        result = await client.call_tool("named")
        assert text(result) == "Name(name='name?') in a task"
        assert place.log == ["name?"]


async def test_errors_of_the_protocol_and_of_the_tool_are_what_the_call_would_have_returned() -> (
    None
):
    place = Place()
    async with place.client() as (client, tasks):
        with pytest.raises(RemoteError) as raised:
            await client.call_tool("failing", {"kind": "error"})
        assert (raised.value.code, raised.value.data) == (-32050, {"why": 1})
        assert (await client.call_tool("failing", {"kind": "value"})).is_error is True
        handle = await started(client, tasks, "failing", kind="value")
        async with asyncio.timeout(10):
            while (state := await handle.state()).status == "working":
                await elapse(FAST)
        assert isinstance(state, m.GetTaskResultCompleted)
    async with Client(place.server) as client:
        with pytest.raises(RemoteError) as refused:
            await client.call_tool("failing", {"kind": "error"})
        needed: Any = {"extensions": {place.tasks.identifier: {}}}
        assert refused.value.code == -32021
        assert refused.value.data == {"requiredCapabilities": needed}


async def test_a_handler_that_awaits_what_was_cancelled_leaves_a_task_that_has_failed() -> None:
    place = Place()
    async with place.client() as (client, _):
        with pytest.raises(RemoteError, match="the handler awaited what was cancelled"):
            await client.call_tool("failing", {"kind": "cancelled"}, timeout=10)


async def test_a_cancelled_task_stays_cancelled_and_a_late_result_is_dropped() -> None:
    place = Place()
    async with place.client() as (client, tasks):
        handle = await working(client, tasks)
        await handle.cancel()
        assert (await handle.state()).status == "cancelled"
        await place.is_idle()
        place.go.set()
        await handle.cancel()
        assert (await handle.state()).status == "cancelled"
        assert place.log == ["cancelled"]


async def test_an_async_on_progress_that_hangs_does_not_hold_the_result_of_a_task_back() -> None:
    place = Place()

    async def said(*progress: object) -> None:
        place.go.set()
        await asyncio.Event().wait()

    async with place.client(limits=Limits(progress_wait=0.05)) as (client, _):
        async with asyncio.timeout(5):
            assert text(await client.call_tool("slow", on_progress=said)) == "done"
        await place.is_idle()


async def test_the_end_of_the_caller_cancels_the_task() -> None:
    place = Place()
    async with place.client() as (client, _):
        begun = asyncio.Event()

        async def said(*progress: object) -> None:
            begun.set()

        call = asyncio.create_task(client.call_tool("slow", on_progress=said))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await place.is_idle()
        with pytest.raises(TimedOut):
            await client.call_tool("slow", timeout=2.0)
        await place.is_idle()
        assert place.log == ["cancelled", "cancelled"]


async def test_a_task_that_the_server_does_not_know_is_an_error() -> None:
    place = Place()
    async with place.client() as (client, tasks):
        handle = await started(client, tasks, "slow")
        for id in ("", "x" * 43, "x" * 100_000):
            stranger = TaskHandle(client, id)
            for work in (stranger.state(), stranger.cancel(), stranger.update({})):
                with pytest.raises(RemoteError) as raised:
                    await work
                assert raised.value.code == -32602
        place.tasks._table._own_tasks._owners.clear()  # type: ignore[attr-defined]
        with pytest.raises(RemoteError, match="Unknown task"):
            await handle.result()
        place.tasks._table._own_tasks._ends.clear()  # type: ignore[attr-defined]
        await place.tasks.close()


async def test_a_task_is_over_when_its_time_has_passed() -> None:
    place = Place(ttl=2.0)
    async with place.client() as (client, _):
        with pytest.raises(RemoteError, match="Unknown task"):
            await client.call_tool("slow")
        await place.is_idle()
        assert place.log == ["cancelled"]


async def test_task_ttl_bounds_how_long_a_task_is_kept() -> None:
    place = Place(Limits(task_ttl=7.0), ttl=1000.0)
    async with place.client() as (client, tasks):
        handle = await started(client, tasks, "slow")
        assert (await handle.state()).ttl_ms == 7000
        await handle.cancel()
        await place.is_idle()


async def test_task_bytes_bound_a_result_and_the_task_says_so() -> None:
    place = Place(Limits(task_bytes=10_000))
    async with place.client() as (client, _):
        assert len(text(await client.call_tool("large", {"size": 5_000}))) == 5_000
        with pytest.raises(RemoteError, match=r"Limits\.task_bytes"):
            await client.call_tool("large", {"size": 20_000})


async def test_an_owner_with_too_many_tasks_is_refused() -> None:
    place = Place(Limits(tasks=2))
    async with place.client() as (client, tasks):
        handles = [await started(client, tasks, "slow") for _ in range(2)]
        with pytest.raises(RemoteError, match=r"Limits\.tasks"):
            await client.call_tool("slow")
        for handle in handles:
            await handle.cancel()
        await place.is_idle()


@pytest.mark.wide
@pytest.mark.parametrize("count", [1000])
async def test_many_tasks_at_once_leave_nothing_behind(count: int) -> None:
    place = Place(poll_interval=0.5)
    before = len(asyncio.all_tasks())
    async with place.client(limits=Limits(total=600.0, deadline=300.0)) as (client, _):
        calls = [asyncio.create_task(client.call_tool("slow")) for _ in range(count)]
        async with asyncio.timeout(120):
            while place.tasks.running < count:
                await elapse(0.05)
        place.go.set()
        async with asyncio.timeout(240):
            assert {text(await call) for call in calls} == {"done"}
    await place.is_idle()
    await until(lambda: len(asyncio.all_tasks()) <= before + 1)
    table = place.tasks._table
    assert table._watchers == {}
    assert len(table._own_tasks) == count  # type: ignore[arg-type]


async def test_changes_of_a_task_are_notified_to_those_who_subscribed_to_it() -> None:
    place, notified = Place(), list[Any]()
    async with place.client() as (client, tasks):
        tasks.notified = lambda method, params: notified.append(params)  # type: ignore[method-assign]
        handle = await started(client, tasks, "slow")
        other = await started(client, tasks, "slow")
        async with client.listen(more={"taskIds": [handle.id]}) as subscription:
            assert subscription.served is not None
            assert subscription.served.extra_ == {"taskIds": [handle.id]}
            await handle.cancel()
            await other.cancel()
            await until(lambda: any(each.status == "cancelled" for each in notified))
        assert {each.task_id for each in notified} == {handle.id}
