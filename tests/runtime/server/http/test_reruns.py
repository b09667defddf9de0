"""Calls that may be run again are, by another process, when the one that ran them has died."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from mcp_runtime.stores import StoreUnavailable
from mcp_runtime.stores.memory import MemoryStore
from tests.support.asgi_client import Client, Response, Session
from tests.support.patience import until
from tests.support.seeds import seed
from tests.support.virtual_time import elapse

QUICK = Limits(lease=0.1)
"""Looks often whether a process lives."""


class Place:
    """Processes that share a store, each with the same tools; one that died never ends a call."""

    def __init__(self, count: int, limits: Limits, without: Sequence[int] = ()) -> None:
        self.store = MemoryStore()
        self.store.leases.is_held = self._lives
        self.runs = Counter[int]()
        """How often each process has begun a call."""
        self.dead = set[int]()
        self.go = asyncio.Event()
        self.clients = [
            Client(self._server(number, limits, number not in without).asgi(store=self.store))
            for number in range(count)
        ]

    def _server(self, number: int, limits: Limits, rerun: bool) -> Server:
        server = Server(f"number {number}", "1", limits=limits, keys=[bytes(32)])

        async def work(ctx: Context, text: str = "") -> str:
            self.runs[number] += 1
            await ctx.log("error", f"begun at {number}")
            for step in range(1, 2 + 2 * self.runs.total()):
                await ctx.progress(step)
            await self.go.wait()
            if number in self.dead:
                await asyncio.Event().wait()
            return f"done at {number}"

        server.add_tool(work, rerun=rerun)
        server.add_tool(work, name="once")
        return server

    def kill(self, number: int) -> None:
        """Has a process say nothing any more, and hold no lease."""
        self.dead.add(number)

    async def _lives(self, name: str) -> bool:
        """Whether a process holds its lease: no clock says so, for a test may be slow."""
        clusters = {number: self.clients[number].app._cluster for number in self.dead}
        return name not in {f"process:{cluster.number}" for cluster in clusters.values()}

    def at(self, number: int, session: Session) -> Session:
        """The same session, asked at another process."""
        return Session(self.clients[number], session.id, session.revision, session.scope)


@asynccontextmanager
async def processes(
    count: int = 2, limits: Limits = QUICK, without: Sequence[int] = ()
) -> AsyncGenerator[Place]:
    place = Place(count, limits, without)
    yield place
    place.dead.clear()
    for client in place.clients:
        for response in client.open:
            response.disconnect()
    for client in place.clients:
        for session in [*client.app.sessions.values()]:
            session.fail_running()
        await client.app.drain()
        await asyncio.gather(*(response.task for response in client.open))


def asked(session: Session, name: str = "work", **arguments: Any) -> Response:
    return session.call(name, arguments, {"_meta": {"progressToken": "p"}})


async def begun(place: Place, name: str = "work", **arguments: Any) -> tuple[Session, Response]:
    """A session at process 0 with a call whose events have come, and whose connection is gone."""
    session = await place.clients[0].session()
    response = asked(session, name, **arguments)
    await response.until_events(5)
    await response.drop()
    return session, response


def logs(messages: Sequence[Any]) -> list[str]:
    return [each["params"]["data"] for each in messages if "data" in each.get("params", {})]


def steps(messages: Sequence[Any]) -> list[int]:
    return [each["params"]["progress"] for each in messages if "progress" in each.get("params", {})]


def text(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def require_lost(response: Response, ids: Sequence[int] = (1,)) -> None:
    answers = [each for each in response.messages if "error" in each]
    assert [(each["id"], each["error"]["code"]) for each in answers] == [(id, -32603) for id in ids]
    assert all(each["error"]["data"] == {"reason": "process-ended"} for each in answers)


async def test_a_client_that_reconnects_gets_each_event_and_the_answer_once() -> None:
    async with processes() as place:
        session, first = await begun(place)
        place.kill(0)
        rest = place.at(1, session).get(first.events[-1].id)
        await rest.until(lambda rest: len(rest.messages) >= 3)
        place.go.set()
        await rest.until_over()
        everything = [*first.messages, *rest.messages]
        assert logs(everything) == ["begun at 0", "begun at 1"]
        assert steps(everything) == [1, 2, 3, 4, 5], "progress never goes back"
        assert (rest.messages[-1]["id"], text(rest.messages[-1])) == (1, "done at 1")
        assert [each["id"] for each in everything if "id" in each] == [1]
        ids = [event.id for event in (*first.events, *rest.events)]
        assert len({*ids}) == len(ids)
        assert place.runs == {0: 1, 1: 1}


async def test_a_client_that_follows_while_the_process_dies_gets_the_rest() -> None:
    async with processes() as place:
        session, first = await begun(place)
        rest = await place.at(1, session).get(first.events[-1].id).until_begun()
        await elapse(0.05)
        assert place.runs == {0: 1}
        place.kill(0)
        await until(lambda: place.runs == {0: 1, 1: 1})
        place.go.set()
        await rest.until_over()
        assert logs(rest.messages) == ["begun at 1"]
        assert text(rest.messages[-1]) == "done at 1"


async def test_whoever_reconnects_to_whichever_process_gets_the_same_events() -> None:
    async with processes(3) as place:
        session, first = await begun(place)
        place.kill(0)
        last = first.events[-1].id
        rest = place.at(1, session).get(last)
        await rest.until(lambda rest: logs(rest.messages))
        again = await place.at(1, session).get(last).until(lambda r: logs(r.messages))
        await again.drop()
        elsewhere = await place.at(2, session).get(last).until(lambda r: logs(r.messages))
        place.go.set()
        for each in (rest, elsewhere, await place.at(2, session).get(last).until_over()):
            await each.until_over()
            assert logs(each.messages) == ["begun at 1"]
            assert text(each.messages[-1]) == "done at 1"
        assert place.runs == {0: 1, 1: 1}


async def test_of_several_that_follow_in_several_processes_one_runs_it() -> None:
    async with processes(4) as place:
        session, first = await begun(place)
        last, places = first.events[-1].id, [1, 2, 3, 1, 2, 3]
        rests = [place.at(number, session).get(last) for number in places]
        await asyncio.gather(*(rest.until_begun() for rest in rests))
        place.kill(0)
        place.go.set()
        await asyncio.gather(*(rest.until_over() for rest in rests))
        assert place.runs.total() == 2
        assert len({rest.body for rest in rests}) == 1
        assert text(rests[0].messages[-1]).startswith("done at ")


@pytest.mark.parametrize("most", [0, 1, 2])
async def test_what_kills_each_process_is_run_again_as_often_as_the_limit_says(most: int) -> None:
    async with processes(5, Limits(lease=0.1, reruns=most)) as place:
        session, first = await begun(place)
        rests = [place.at(4, session).get(first.events[-1].id)]
        place.kill(0)
        for _ in range(most):
            await until(
                lambda: any(place.runs[number] and number not in place.dead for number in range(5))
            )
            (runner,) = {*place.runs} - place.dead
            place.kill(runner)
            other = min({*range(5)} - place.dead)
            rests.append(place.at(other, session).get(first.events[-1].id))
        await rests[-1].until_over()
        require_lost(rests[-1])
        assert place.runs.total() == most + 1
        assert logs(rests[-1].messages) == [f"begun at {n}" for n in [*place.runs][1:]]


@pytest.mark.parametrize("more", [0, 1])
async def test_a_message_over_the_limit_is_run_once(more: int) -> None:
    async with processes(limits=Limits(lease=0.1, rerun_bytes=1000)) as place:
        session, first = await begun(place, text="x" * (1000 - _SIZE + more))
        place.kill(0)
        place.go.set()
        rest = await place.at(1, session).get(first.events[-1].id).until_over()
        if more:
            require_lost(rest)
        else:
            assert text(rest.messages[-1]) == "done at 1"
        assert place.runs[1] == (0 if more else 1)


_SIZE = len(
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "work",
                "arguments": {"text": ""},
                "_meta": {"progressToken": "p"},
            },
        }
    )
)


async def test_a_tool_that_does_not_say_so_is_not_run_again() -> None:
    async with processes() as place:
        session, first = await begun(place, "once")
        place.kill(0)
        rest = await place.at(1, session).get(first.events[-1].id).until_over()
        require_lost(rest)
        assert place.runs == {0: 1}


async def test_the_note_on_a_call_that_is_run_once_stays_as_small_as_it_was() -> None:
    async with processes() as place:
        for name, is_small in (("once", True), ("work", False)):
            session, _ = await begun(place, name)
            (note,) = place.store.events._sessions[session.id].notes.values()
            assert (note == b"[1]") is is_small


async def test_who_follows_goes_on_when_the_second_process_dies_too() -> None:
    async with processes(3, Limits(lease=0.1, reruns=2)) as place:
        session, first = await begun(place)
        rests = [place.at(number, session).get(first.events[-1].id) for number in (1, 2)]
        await asyncio.gather(*(rest.until_begun() for rest in rests))
        for count in (2, 3):
            place.kill([*place.runs][-1])
            await until(lambda count=count: place.runs.total() == count)
        place.go.set()
        (last,) = {1, 2} - place.dead
        rest = await rests[last - 1].until_over()
        assert logs(rest.messages) == [f"begun at {number}" for number in [*place.runs][1:]]
        assert text(rest.messages[-1]) == f"done at {last}"


@pytest.mark.parametrize("number", range(10))
async def test_whenever_and_wherever_processes_die_each_event_comes_once_and_in_order(
    number: int,
) -> None:
    random = Random(seed(f"deaths {number}"))
    async with processes(5, Limits(lease=0.05, reruns=9)) as place:
        session, response = await begun(place)
        ids = [event.id or "" for event in response.events]
        messages = [*response.messages]
        while {*range(5)} - place.dead - {[*place.runs][-1]} and random.random() < 0.9:
            place.kill([*place.runs][-1])
            where = random.choice([*{*range(5)} - place.dead])
            response = place.at(where, session).get(ids[-1])
            runs, after = place.runs.total(), random.choice([0, 1, 2, 3])
            await response.until(lambda each, after=after: len(each.messages) >= after)
            await until(lambda runs=runs: place.runs.total() > runs)
            await response.drop()
            ids += [event.id or "" for event in response.events]
            messages += response.messages
        place.go.set()
        where = random.choice([*{*range(5)} - place.dead])
        response = await place.at(where, session).get(ids[-1]).until_over()
        ids += [event.id or "" for event in response.events]
        messages += response.messages
        numbers = [int(id.rpartition(".")[2]) for id in ids]
        assert numbers == sorted({*numbers})
        assert [each["id"] for each in messages if "id" in each] == [1]
        assert steps(messages) == sorted({*steps(messages)})
        assert text(messages[-1]) == f"done at {[*place.runs][-1]}"
        assert len(place.runs) == place.runs.total() == len(place.dead) + 1


async def test_a_process_whose_tool_does_not_say_so_answers_with_the_error() -> None:
    async with processes(without=[1]) as place:
        session, first = await begun(place)
        place.kill(0)
        rest = await place.at(1, session).get(first.events[-1].id).until_over()
        require_lost(rest)
        assert place.runs == {0: 1}


@pytest.mark.parametrize(
    "names", [["work", "work"], ["work", "once"], ["work", "ping"], ["work", "twice"]]
)
async def test_a_batch_is_run_again_whole_or_not_at_all(names: Sequence[str]) -> None:
    async with processes() as place:
        session = await place.clients[0].session("2025-03-26")
        calls = [
            {
                "jsonrpc": "2.0",
                "id": 1 if name == "twice" else id,
                "method": "tools/call" if name != "ping" else name,
                "params": {"name": "work" if name == "twice" else name},
            }
            for id, name in enumerate(names, 1)
        ]
        is_run = [name not in ("ping", "twice") for name in names]
        first = await session.post(calls).until_events(sum(is_run))
        await first.drop()
        place.kill(0)
        place.go.set()
        rest = await place.at(1, session).get(first.events[-1].id).until_over()
        if {*names} == {"work"}:
            assert {text(each) for each in rest.messages[-1]} == {"done at 1"}
            assert {each["id"] for each in rest.messages[-1]} == {1, 2}
            assert place.runs == {0: 2, 1: 2}
        else:
            require_lost(rest, [id for id, runs in enumerate(is_run, 1) if runs])
            assert 1 not in place.runs


async def test_a_call_that_was_cancelled_is_not_run_again() -> None:
    async with processes() as place:
        session, first = await begun(place)
        rest = await place.at(1, session).get(first.events[-1].id).until_begun()
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        sent = place.at(1, session).post({"jsonrpc": "2.0", **cancelled})
        assert (await sent.until_over()).status == 202
        await rest.until_over()
        place.kill(0)
        late = await place.at(1, session).get(first.events[-1].id).until_over()
        assert (rest.messages, late.messages, place.runs) == ([], [], {0: 1})


@pytest.mark.parametrize("most", [0, 1])
async def test_a_shutdown_leaves_a_call_to_another_process(most: int) -> None:
    async with processes(limits=Limits(lease=0.1, drain_wait=0.01, reruns=most)) as place:
        session = await place.clients[0].session()
        first = await asked(session).until_events(5)
        silent = asked(session)
        await until(lambda: place.runs == {0: 2})
        await place.clients[0].app.drain()
        place.kill(0)
        place.go.set()
        for each in (first, silent):
            await each.until_over()
        if not most:
            assert first.messages[-1]["error"]["message"].endswith("is shutting down")
            return
        assert (first.events[-1].retry, logs(first.messages)) == (1000, ["begun at 0"])
        rest = await place.at(1, session).get(first.events[-2].id).until_over()
        assert (logs(rest.messages), text(rest.messages[-1])) == (["begun at 1"], "done at 1")
        assert place.runs == {0: 2, 1: 1}


async def test_a_store_that_fails_while_a_call_is_taken_over_does_not_lose_it() -> None:
    async with processes() as place:
        session, first = await begun(place)
        rest = await place.at(1, session).get(first.events[-1].id).until_begun()
        append, failures = place.store.events.append, list[str]()

        async def broken(*event: Any) -> None:
            await append(*event)
            if len(failures) < 2:
                failures.append("the reply is lost")
                raise StoreUnavailable("the reply is lost")

        place.store.events.append = broken
        place.kill(0)
        place.go.set()
        await rest.until_over()
        assert len(failures) == 2
        assert text(rest.messages[-1]) == "done at 1"
        assert place.runs == {0: 1, 1: 1}
