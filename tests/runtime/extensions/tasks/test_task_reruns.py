"""Tasks that may run twice go on in another process, from their start, when theirs is gone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits
from mcp_runtime.auth.server.current import current_token
from mcp_runtime.auth.server.verifier import VerifiedToken
from mcp_runtime.errors import RemoteError, RpcError
from mcp_runtime.extensions.tasks import TaskHandle
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.stores import StoreUnavailable
from mcp_runtime.stores.opening import store_at
from tests.support.json_peers import RawClient, connected
from tests.support.patience import until
from tests.support.task_server import Name, Place, started, text

NEVER_LAPSES: Final = 3600.0


class Process(Place):
    """A server that shares its tasks, and can die."""

    def __init__(self, number: int, *, rerun: bool = True, **limits: Any) -> None:
        super().__init__(limits=Limits(lease=NEVER_LAPSES, **limits))
        self.number = number
        self.runs = 0
        tool, optional = self.server.tool, [self.tasks.optional]

        @tool(options=optional, rerun=rerun)
        async def work(ctx: Context, steps: int = 1, word: str = "") -> str:
            self.runs += 1
            for step in range(1, steps + self.number):
                await ctx.progress(step, message=f"{step} at {self.number}")
            await self.go.wait()
            return f"done at {self.number} {ctx.token.subject if ctx.token else ''}".strip()

        @tool(options=optional, rerun=rerun)
        async def ask(ctx: Context) -> str:
            self.runs += 1
            names = [(await ctx.elicit(f"{which}?", Name)).content for which in ("one", "two")]
            return f"{names} at {self.number}"

        async def agreed(params: t.CallToolRequestParams, ctx: Context) -> bool:
            return (await ctx.elicit("name?", Name, key="name")).accepted

        @tool(options=[self.tasks.when(agreed)], rerun=rerun)
        async def named_work(ctx: Context) -> str:
            self.runs += 1
            await self.go.wait()
            return f"{(await ctx.elicit('name?', Name, key='name')).content} at {self.number}"

    async def kill(self) -> None:
        """Ends all that it does, and its lease."""
        table, works = self.tasks._table, [work for _, work in self.tasks._running.values()]

        async def gone(*task: Any) -> Any:
            if asyncio.current_task() in works:
                await asyncio.Event().wait()
            raise RpcError(-32603, "gone")

        table.change = table.find = gone  # type: ignore[method-assign]
        for work in works:
            work.cancel()
        await self.is_idle()
        assert table._shared_store is not None
        await table._shared_store.leases.release(f"tasks:{table.process}")


@asynccontextmanager
async def processes(
    store: str, count: int = 2, *, without: int | None = None, **limits: Any
) -> AsyncGenerator[list[Process]]:
    async with AsyncExitStack() as stack:
        made = [Process(number, rerun=number != without, **limits) for number in range(count)]
        for each in made:
            opened = await stack.enter_async_context(store_at(store))
            await stack.enter_async_context(dispatcher_of(each.server).sharing(opened))
        yield made


@asynccontextmanager
async def begun_at(
    process: Process, name: str = "work", **arguments: Any
) -> AsyncGenerator[tuple[TaskHandle, Client]]:
    async with process.client() as (client, tasks):
        handle = await started(client, tasks, name, **arguments)
        await until(lambda: process.runs == 1)
        yield handle, client


@asynccontextmanager
async def polled_at(process: Process, handle: TaskHandle) -> AsyncGenerator[TaskHandle]:
    async with process.client() as (client, _):
        yield TaskHandle(client, handle.id)


async def test_a_task_whose_process_is_gone_goes_on_where_it_is_polled(store: str) -> None:
    async with (
        processes(store, 3) as (one, other, third),
        begun_at(one) as (handle, _),
        polled_at(other, handle) as moved,
        polled_at(third, handle) as elsewhere,
    ):
        assert (await moved.state()).status == "working"
        assert other.runs == 0
        await one.kill()
        assert (await moved.state()).status == "working"
        await until(lambda: other.runs == 1)
        for each in (moved, elsewhere, moved):
            assert (await each.state()).status == "working"
        other.go.set()
        assert text(await elsewhere.result()) == text(await moved.result()) == "done at 1"
        assert (one.runs, other.runs, third.runs) == (1, 1, 0)


async def test_of_many_that_poll_at_several_processes_one_runs_it(store: str) -> None:
    async with processes(store, 3) as (one, *others), begun_at(one) as (handle, _):
        await one.kill()
        for each in others:
            each.go.set()
        async with AsyncExitStack() as stack:
            places = [polled_at(each, handle) for each in others * 4]
            handles = [await stack.enter_async_context(place) for place in places]
            results = await asyncio.gather(*(each.result() for each in handles))
        assert len({*map(text, results)}) == 1
        assert sum(each.runs for each in others) == 1


async def test_what_was_answered_is_not_asked_again_and_an_open_question_stays_open(
    store: str,
) -> None:
    async with (
        processes(store) as (one, other),
        begun_at(one, "ask") as (handle, _),
        polled_at(other, handle) as moved,
    ):
        first = await _question(handle)
        await handle.update({first: _accepted("Ann")})
        second = await _question(handle, first)
        await one.kill()
        state = await moved.state()
        assert state.status == "input_required"
        assert [*state.input_requests] == [second]
        await moved.update({second: _accepted("Bo")})
        assert text(await moved.result()) == "[Name(name='Ann'), Name(name='Bo')] at 1"
        assert (other.runs, other.log) == (1, [])


async def _question(handle: TaskHandle, before: str = "") -> str:
    open: list[str] = []

    async def is_asked() -> bool:
        open[:] = getattr(await handle.state(), "input_requests", {})
        return open not in ([], [before])

    await until(is_asked)
    return open[0]


def _accepted(name: str) -> t.ElicitResult:
    return t.ElicitResult(action="accept", content={"name": name})


async def test_what_was_asked_before_the_task_began_is_kept_too(store: str) -> None:
    async with processes(store) as (one, other), one.client() as (client, _):
        call = asyncio.create_task(client.call_tool("named_work"))
        await until(lambda: one.runs == 1)
        (id,) = one.tasks._running
        await one.kill()
        other.go.set()
        async with other.client() as (elsewhere, _):
            moved = TaskHandle(elsewhere, id)
            assert text(await moved.result()) == "Name(name='name?') at 1"
        assert (one.log, other.log) == (["name?"], [])
        with pytest.raises(RemoteError, match="gone"):
            await call


async def test_the_status_message_goes_on_where_it_was(store: str) -> None:
    async with (
        processes(store) as (one, other),
        begun_at(one, steps=4) as (handle, _),
        polled_at(other, handle) as moved,
    ):
        seen = list[object]()

        async def see(last: str, at: TaskHandle) -> None:
            async with asyncio.timeout(10):
                while seen[-1:] != [last]:
                    state = await at.state()
                    if [state.status_message] != seen[-1:]:
                        seen.append(state.status_message)

        await see("3 at 0", handle)
        await one.kill()
        await see("4 at 1", moved)
        assert seen[-2:] == ["3 at 0", "4 at 1"]


@pytest.mark.parametrize("most", [0, 1, 2])
async def test_a_task_is_run_again_as_often_as_the_limit_says(store: str, most: int) -> None:
    async with processes(store, 4, reruns=most) as places, begun_at(places[0]) as (handle, _):
        for number in range(most):
            await places[number].kill()
            async with polled_at(places[number + 1], handle) as moved:
                assert (await moved.state()).status == "working"
            await until(partial(_has_run, places[number + 1]))
        await places[most].kill()
        async with polled_at(places[3], handle) as moved:
            with pytest.raises(RemoteError, match="the process that ran the task is gone"):
                await moved.result()
        assert sum(each.runs for each in places) == most + 1


def _has_run(process: Process) -> bool:
    return process.runs == 1


async def test_a_stop_leaves_a_task_to_the_process_that_is_started_next(store: str) -> None:
    async with processes(store, 1) as (one,), begun_at(one) as (handle, _):
        pass
    async with processes(store, 1) as (after,), polled_at(after, handle) as moved:
        after.go.set()
        assert text(await moved.result()) == "done at 0"
        assert after.runs == 1


async def test_a_process_whose_tool_does_not_say_so_does_not_run_it(store: str) -> None:
    async def main(without: int) -> None:
        async with (
            processes(store, without=without) as (one, other),
            begun_at(one) as (handle, _),
            polled_at(other, handle) as moved,
        ):
            await one.kill()
            with pytest.raises(RemoteError, match="the process that ran the task is gone"):
                await moved.result()
            assert other.runs == 0

    for without in (0, 1):
        await main(without)


async def test_a_call_over_the_limit_is_run_once(store: str) -> None:
    async def kept(limit: int) -> int:
        """The size of the call that is kept of a task; 0 for none."""
        async with (
            processes(store, rerun_bytes=limit) as (one, other),
            begun_at(one) as (handle, _),
            polled_at(other, handle) as moved,
        ):
            call = (await one.tasks._table.find("", handle.id)).call
            await one.kill()
            other.go.set()
            if call is None:
                with pytest.raises(RemoteError, match="the process that ran the task is gone"):
                    await moved.result()
                return 0
            assert text(await moved.result()) == "done at 1"
            return len(json.dumps(call.params, separators=(",", ":")))

    size = await kept(Limits().rerun_bytes)
    assert await kept(size) == size
    assert await kept(size - 1) == 0


async def test_a_task_that_nobody_runs_can_be_cancelled(store: str) -> None:
    async with (
        processes(store) as (one, other),
        begun_at(one) as (handle, _),
        polled_at(other, handle) as moved,
    ):
        await one.kill()
        await moved.cancel()
        assert (await moved.state()).status == "failed"
        assert other.runs == 0


@pytest.mark.parametrize("most", [1, 2])
async def test_a_lost_reply_of_the_store_leaves_no_task_that_nobody_runs(
    store: str, most: int
) -> None:
    async with (
        processes(store, reruns=most) as (one, other),
        begun_at(one) as (handle, _),
        polled_at(other, handle) as moved,
    ):
        await one.kill()
        shared = other.tasks._table._shared_store
        assert shared is not None
        put = shared.tasks.put

        async def lost(*record: Any) -> bool:
            await put(*record)
            shared.tasks.put = put  # type: ignore[method-assign]
            raise StoreUnavailable("the reply is lost")

        shared.tasks.put = lost  # type: ignore[method-assign]
        with pytest.raises(RemoteError, match="cannot be reached"):
            await moved.state()
        other.go.set()
        if most == 1:
            with pytest.raises(RemoteError, match="the process that ran the task is gone"):
                await moved.result()
        else:
            assert text(await moved.result()) == "done at 1"
        assert other.runs == most - 1


async def test_it_has_the_token_of_the_call_that_began_it(store: str) -> None:
    async with processes(store) as (one, other):
        current_token.set(VerifiedToken(subject="ann", issuer="i", scopes=frozenset("rw")))
        async with begun_at(one) as (handle, _):
            current_token.set(VerifiedToken(subject="ann's other", issuer="i"))
            await one.kill()
            other.go.set()
            async with polled_at(other, handle) as moved:
                assert text(await moved.result()) == "done at 1 ann"


async def test_a_task_of_the_core_goes_on_while_its_result_is_waited_for(store: str) -> None:
    async with (
        processes(store) as (one, other),
        core_client(one) as client,
        core_client(other) as elsewhere,
    ):
        other.tasks._table.limits = Limits(lease=0.3)
        task = await _begun(client, "ask")
        await until(lambda: one.runs == 1)
        waiting = elsewhere.call("tasks/result", {"taskId": task})
        question = await elsewhere.next("elicitation/create")
        elsewhere.answer(question["id"], t.to_wire(_accepted("Ann")))
        question = await elsewhere.next("elicitation/create")
        await one.kill()
        await until(lambda: other.runs == 1)
        elsewhere.answer(question["id"], t.to_wire(_accepted("Bo")))
        (block,) = (await elsewhere.response(waiting))["result"]["content"]
        assert block["text"] == "[Name(name='Ann'), Name(name='Bo')] at 1"


async def test_progress_of_the_core_keeps_its_token_and_never_goes_back(store: str) -> None:
    async with (
        processes(store) as (one, other),
        core_client(one) as client,
        core_client(other) as elsewhere,
    ):
        task = await _begun(client, "work", steps=4)
        said = [await client.next("notifications/progress") for _ in range(3)]
        await one.kill()
        state = await elsewhere.result("tasks/get", {"taskId": task})
        assert state["status"] == "working"
        said.append(await elsewhere.next("notifications/progress"))
        assert [each["params"]["progress"] for each in said] == [1, 2, 3, 4]
        assert {each["params"]["progressToken"] for each in said} == {"its own"}
        other.go.set()
        await other.is_idle()


def core_client(process: Process) -> AbstractAsyncContextManager[RawClient]:
    return connected(process.server, "2025-11-25", {"elicitation": {}})


async def _begun(client: RawClient, name: str, **arguments: Any) -> str:
    """The id of a new task."""
    params = {"name": name, "arguments": arguments, "task": {}}
    answer = await client.result("tools/call", params, meta={"progressToken": "its own"})
    return str(answer["task"]["taskId"])


async def test_without_a_store_a_call_is_not_kept() -> None:
    place = Process(0)
    async with begun_at(place) as (handle, _):
        record = await place.tasks._table.find("", handle.id)
        assert record.call is None
        place.go.set()
        assert text(await handle.result()) == "done at 0"
