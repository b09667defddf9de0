"""Processes that share a store serve each other's tasks, and know when one of them is gone."""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_runtime import Limits
from mcp_runtime.errors import RemoteError, RpcError
from mcp_runtime.extensions.tasks import TaskCancelled, TaskHandle
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.stores.memory import MemoryStore
from mcp_runtime.stores.opening import store_at
from tests.support.patience import until
from tests.support.redis_server import RedisServer
from tests.support.task_server import Place, started, text, working


@asynccontextmanager
async def process(store: str, **options: Any) -> AsyncGenerator[Place]:
    place, opened = Place(**options), store_at(store)
    async with opened, dispatcher_of(place.server).sharing(opened):
        yield place


async def test_processes_that_were_forked_from_one_have_names_of_their_own() -> None:
    table, store = Place().tasks._table, MemoryStore()
    forked = copy.copy(table)
    async with table.sharing(store), forked.sharing(store):
        assert table.process != forked.process


async def test_two_applications_of_one_server_have_one_name() -> None:
    table, store = Place().tasks._table, MemoryStore()
    async with table.sharing(store):
        name = table.process
        async with table.sharing(store):
            assert table.process == name


async def test_tasks_stay_shared_while_one_application_of_two_is_left() -> None:
    table, store = Place().tasks._table, MemoryStore()
    async with table.sharing(store):
        lease = f"tasks:{table.process}"
        async with table.sharing(store):
            pass
        assert table.is_shared
        assert await store.leases.is_held(lease)
    assert not table.is_shared
    assert not await store.leases.is_held(lease)


async def test_any_process_answers_for_a_task(store: str) -> None:
    async with (
        process(store) as one,
        process(store) as other,
        one.client() as (client, tasks),
        other.client() as (elsewhere, _),
    ):
        handle = await started(client, tasks, "slow")
        moved = TaskHandle(elsewhere, handle.id)
        assert (await moved.state()).status == "working"
        one.go.set()
        assert text(await moved.result()) == "done"
        handle = await started(client, tasks, "twice")
        moved = TaskHandle(elsewhere, handle.id)
        assert text(await moved.result()) == "Name(name='first?') Name(name='second?')"
        assert (one.log, other.log) == ([], ["first?", "second?"])


async def test_any_process_cancels_a_task(store: str) -> None:
    async with (
        process(store) as one,
        process(store) as other,
        one.client() as (client, tasks),
        other.client() as (elsewhere, _),
    ):
        handle = await working(client, tasks)
        await TaskHandle(elsewhere, handle.id).cancel()
        with pytest.raises(TaskCancelled):
            await handle.result()
        await one.is_idle()
        assert one.log == ["cancelled"]


async def test_a_subscriber_of_any_process_is_notified(store: str) -> None:
    async with (
        process(store) as one,
        process(store) as other,
        one.client() as (client, tasks),
        other.client() as (elsewhere, theirs),
    ):
        notified = list[Any]()
        theirs.notified = lambda method, params: notified.append(params)  # type: ignore[method-assign]
        handle = await started(client, tasks, "slow")
        async with elsewhere.listen(more={"taskIds": [handle.id]}):
            one.go.set()
            await until(lambda: [each.status for each in notified][-1:] == ["completed"])
        assert notified[-1].result["content"] == [{"type": "text", "text": "done"}]


async def test_a_task_that_is_over_survives_a_restart(store: str) -> None:
    async with process(store) as before, before.client() as (client, tasks):
        before.go.set()
        handle = await started(client, tasks, "slow")
        await handle.result()
    async with process(store) as after, after.client() as (client, _):
        assert text(await TaskHandle(client, handle.id).result()) == "done"


async def test_a_task_that_a_stop_cuts_off_has_failed(store: str) -> None:
    async with process(store) as before, before.client() as (client, tasks):
        handle = await working(client, tasks)
    assert before.log == ["cancelled"]
    async with process(store) as after, after.client() as (client, _):
        with pytest.raises(RemoteError, match="the server has ended"):
            await TaskHandle(client, handle.id).result()


async def test_a_task_whose_process_holds_its_lease_no_more_has_failed(store: str) -> None:
    options = {"limits": Limits(lease=3600.0)}
    async with (
        process(store, **options) as one,
        process(store, **options) as other,
        one.client() as (client, tasks),
        other.client() as (elsewhere, _),
    ):
        handle = await started(client, tasks, "slow")
        moved = TaskHandle(elsewhere, handle.id)
        assert (await moved.state()).status == "working"
        shared = one.tasks._table._shared_store
        assert shared is not None
        await shared.leases.release(f"tasks:{one.tasks._table.process}")
        with pytest.raises(RemoteError, match="the process that ran the task is gone"):
            await moved.result()
        one.go.set()
        await one.is_idle()
        assert (await moved.state()).status == "failed"


async def test_tasks_sealed_with_other_keys_are_unknown(store: str) -> None:
    async with (
        process(store) as one,
        process(store, keys=[b"o" * 32]) as other,
        one.client() as (client, tasks),
        other.client() as (elsewhere, _),
    ):
        handle = await started(client, tasks, "slow")
        with pytest.raises(RemoteError, match="Unknown task"):
            await TaskHandle(elsewhere, handle.id).state()
        await handle.cancel()


async def test_a_record_that_was_moved_to_another_owner_is_not_read() -> None:
    """Who can write to the store cannot make a task of one person that of another."""

    place, store = Place(), MemoryStore()
    table = place.tasks._table
    async with table.sharing(store), place.client() as (client, tasks):
        handle = await started(client, tasks, "slow")
        kept = await store.tasks.get("", handle.id)
        assert kept is not None
        assert await store.tasks.put("mallory", handle.id, kept.record, 0, 60)
        assert (await table.find("", handle.id)).status == "working"
        with pytest.raises(RpcError, match="Unknown task"):
            await table.find("mallory", handle.id)
        place.go.set()
        assert text(await handle.result()) == "done"


@pytest.mark.real_time
@pytest.mark.requirement(
    "tasks.error.internal",
)
async def test_a_store_that_is_away_is_an_error_and_the_outcome_waits_for_it(
    redis: RedisServer,
) -> None:
    place, opened = Place(), store_at(redis.url, Limits(store_wait=1.0))
    async with (
        opened,
        dispatcher_of(place.server).sharing(opened),
        place.client() as (client, tasks),
    ):
        handle = await started(client, tasks, "slow")
        redis.stop()
        try:
            with pytest.raises(RemoteError, match="cannot be reached"):
                await handle.state()
            with pytest.raises(RemoteError, match="cannot be reached"):
                await client.call_tool("slow")
            place.go.set()
        finally:
            redis.start()
        with pytest.raises(RemoteError, match="Unknown task"):
            await handle.result()  # that server keeps nothing over a restart
        await place.is_idle()
        assert text(await client.call_tool("slow")) == "done"
