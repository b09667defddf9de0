"""A stream that is broken anywhere, any number of times, brings each message once and in order.

Source: 2025-11-25 basic/transports, "Resumability and Redelivery".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from mcp_runtime.stores import NoSuchEvent, Stored
from mcp_runtime.stores.memory import MemoryEvents, MemoryStore
from tests.support.asgi_client import Client, Response, Session, serving
from tests.support.patience import PATIENCE, until

How = Literal["drop", "cancel", "silence"]


@dataclass(frozen=True)
class Break:
    """After `events` of a response; what comes later on it is lost.

    "silence" is a connection that is gone without the server's knowing.
    """

    events: int
    how: How


@dataclass(frozen=True)
class Schedule:
    revision: str
    waits: tuple[int, ...]
    """Turns of the loop before each message of the handler."""
    pauses: frozenset[int]
    """The messages before which the handler lets go of the connection."""
    breaks: tuple[Break, ...]
    slow: int
    """Turns of the loop that the store takes."""


class SlowEvents(MemoryEvents):
    """A store that takes its time, before and after."""

    def __init__(self, turns: int) -> None:
        super().__init__()
        self._turns = turns

    async def _wait(self) -> None:
        for _ in range(self._turns):
            await asyncio.sleep(0)

    async def append(
        self, session: str, stream: str, count: int, events: Sequence[bytes], note: bytes
    ) -> None:
        await self._wait()
        await super().append(session, stream, count, events, note)

    async def after(self, session: str, stream: str, number: int) -> Stored:
        await self._wait()
        events = await super().after(session, stream, number)
        await self._wait()
        return events


breaks = st.builds(Break, st.integers(1, 6), st.sampled_from(["drop", "cancel", "silence"]))
schedules = st.builds(
    Schedule,
    st.sampled_from(["2025-11-25", "2025-06-18", "2025-03-26"]),
    st.lists(st.integers(0, 4), min_size=1, max_size=12).map(tuple),
    st.frozensets(st.integers(0, 11), max_size=2),
    st.lists(breaks, max_size=8).map(tuple),
    st.sampled_from([0, 0, 1, 3]),
)

ONE_THEN_SIX = (Break(1, "silence"), Break(6, "silence"))


def teller(schedule: Schedule) -> Server:
    """Its tool tells of each wait, then answers."""
    server = Server("teller", "1")

    @server.tool
    async def tell(ctx: Context) -> str:
        for number, turns in enumerate(schedule.waits):
            for _ in range(turns):
                await asyncio.sleep(0)
            if number in schedule.pauses:
                await ctx.pause(0)
            await ctx.log("info", number)
        return "told"

    return server


async def broken(response: Response, how: How) -> None:
    if how == "drop":
        await response.drop()
    elif how == "cancel":
        response.task.cancel()
        await asyncio.wait({response.task})


async def read(response: Response, most: int) -> list[Any]:
    """At most so many events; fewer where the response ends."""
    await response.until(lambda it: len(it.events) >= most or it.over or it.task.done())
    return response.events[:most]


async def follow(session: Session, response: Response, plan: Sequence[Break]) -> list[Any]:
    """What a client takes that comes again after each break, with the last id that it has seen."""
    messages: list[Any] = []
    last = ""
    left = list(plan)
    for _ in range(100):
        now = left.pop(0) if left else Break(1_000_000, "drop")
        for event in await read(response, now.events):
            last = event.id or last
            messages += [event.data] if event.data else []
        if messages and b'"result"' in messages[-1]:
            return messages
        await broken(response, now.how)
        assert last, "the first event had no id"
        response = await session.get(last).until_begun()
        assert response.status == 200, response.body
    raise AssertionError("the stream does not end")


async def check(schedule: Schedule) -> None:
    store = MemoryStore()
    store.events = events = SlowEvents(schedule.slow)
    app = teller(schedule).asgi(store=store)
    client = Client(app)
    session = await client.session(schedule.revision)
    asked = session.call("tell")
    await asked.until_begun()
    if asked.is_stream:
        messages = await follow(session, asked, schedule.breaks)
        numbers = [json.loads(each)["params"]["data"] for each in messages[:-1]]
        assert numbers == [*range(len(schedule.waits))]
    assert (await session.delete().until_over()).status == 204
    for response in client.open:
        response.disconnect()
    await app.drain()
    await asyncio.wait({response.task for response in client.open}, timeout=PATIENCE)
    assert all(response.task.done() for response in client.open)
    assert (len(events), app.sessions) == (0, {})


@pytest.mark.wide
@pytest.mark.requirement(
    "transport.http.get.client-closes",
    "transport.http.resume.event-id-names-stream",
    "transport.http.resume.event-ids",
    "transport.http.resume.event-ids-per-stream",
    "transport.http.resume.get-for-all",
    "transport.http.resume.own-stream-only",
    "transport.http.resume.replay",
    "transport.http.stream.may-break",
    "transport.http.stream.prime",
    "transport.http.stream.resumable",
)
@given(schedules)
@settings(max_examples=150)
@example(Schedule("2025-11-25", (0, 0), frozenset(), (Break(1, "drop"),) * 4, 0))
@example(Schedule("2025-11-25", (4, 4), frozenset({0, 1}), (Break(1, "silence"),) * 4, 3))
@example(Schedule("2025-06-18", (1, 0, 4), frozenset(), (Break(1, "cancel"),) * 4, 3))
@example(Schedule("2025-11-25", (0, 0, 0, 1), frozenset({0, 3}), (), 0))
@example(Schedule("2025-11-25", (0, 0, 0, 0, 0, 1, 4), frozenset({6}), ONE_THEN_SIX, 0))
@example(Schedule("2025-11-25", (0, 0, 0, 0, 0, 1, 4, 2, 4), frozenset({6}), ONE_THEN_SIX, 0))
async def test_a_broken_stream_brings_each_message_once_and_in_order(schedule: Schedule) -> None:
    await check(schedule)


@pytest.mark.long
@given(schedules)
@settings(max_examples=10_000)
async def test_ten_thousand_broken_streams_bring_each_message_once_and_in_order(
    schedule: Schedule,
) -> None:
    await check(schedule)


# ---- one by one


@pytest.mark.requirement("transport.http.resume.event-ids-unique")
async def test_ids_of_events_are_unique_in_their_session_and_name_their_stream() -> None:
    async with serving(teller(Schedule("", (0,) * 5, frozenset(), (), 0))) as client:
        session = await client.session()
        responses = [session.call("tell") for _ in range(3)]
        for each in responses:
            await each.until_over()
        ids = [[event.id for event in each.events] for each in responses]
        assert len({id for each in ids for id in each}) == 3 * 7
        assert [len({id.partition(".")[0] for id in each}) for each in ids] == [1, 1, 1]


async def test_a_stream_of_another_session_is_never_replayed() -> None:
    async with serving(teller(Schedule("", (0,) * 3, frozenset(), (), 0))) as client:
        one, other = await client.session(), await client.session()
        response = await one.call("tell").until_over()
        last = response.events[0].id
        assert len((await one.get(last).until_over()).messages) == 4
        stolen = await other.get(last).until_over()
        assert (stolen.status, "no longer kept" in stolen.error["message"]) == (400, True)


@pytest.mark.parametrize("last", ["", "x", "0.1", "1.999", "1.x", "1.1 ", ".", "9" * 1000, "ä"])
async def test_an_id_that_no_event_has_is_a_bad_request_and_not_the_end_of_the_session(
    last: str,
) -> None:
    async with serving(teller(Schedule("", (0,), frozenset(), (), 0))) as client:
        session = await client.session()
        await session.call("tell").until_over()
        assert (await session.get(last).until_over()).status == 400
        assert (await session.request("ping").until_over()).status == 200


async def test_the_stream_of_get_is_resumed_too_and_the_one_before_ends() -> None:
    server = teller(Schedule("", (), frozenset(), (), 0))
    async with serving(server) as client:
        session = await client.session()
        stream = await session.get().until_events(1)
        server.add_tool(_none, name="a")
        await stream.until(lambda stream: len(stream.messages) == 1)
        again = await session.get(stream.events[0].id).until_begun()
        await stream.until_over()
        await again.until(lambda again: len(again.messages) == 1)
        assert (await session.get().until_over()).status == 409
        await again.drop()
        server.remove_tool("a")
        server.resource_updated("x://y")
        last = await session.get(again.events[-1].id).until(lambda last: last.messages)
        assert len(last.messages) == 1


async def _none() -> None: ...


@pytest.mark.requirement(
    "transport.http.get.polling",
    "transport.http.stream.hang-up",
    "transport.http.stream.poll",
    "transport.http.stream.retry-sent",
)
async def test_a_handler_that_pauses_ends_the_response_and_the_client_comes_again() -> None:
    server, go = Server("polled", "1"), asyncio.Event()

    @server.tool
    async def work(ctx: Context) -> str:
        await ctx.pause(0.25)
        await go.wait()
        return "worked"

    async with serving(server) as client:
        session = await client.session()
        response = await session.call("work").until_over()
        pauses = [(each.data, each.retry) for each in response.events]
        assert pauses == [(b"", None), (b"", 250)]
        polled = await session.get(response.events[0].id).until_begun()
        go.set()
        await polled.until_over()
        assert polled.messages[-1]["result"]["content"][0]["text"] == "worked"
        older = await client.session("2025-06-18")
        response = await older.call("work").until_over()
        assert response.json["result"]["content"][0]["text"] == "worked"


# ---- the store


async def test_the_store_keeps_a_number_of_bytes_of_each_session_also_of_empty_events() -> None:
    store = MemoryEvents(Limits(event_bytes=10_000))
    for session in ("one", "other"):
        await store.append(session, "1", 0, [b"first"], b"")
        for number in range(1000):
            stream, count = str(2 + number % 5), number // 5
            await store.append(session, stream, count, [b"x" * (number % 200)], b"")
        for count in range(1000):
            await store.append(session, "9", count, [b""], b"")
        with pytest.raises(NoSuchEvent):
            await store.after(session, "1", 1)
        assert await store.after(session, "9", 991) == Stored([b""] * 9, b"")
        kept = sum([await _has(store, session, number) for number in range(1, 1001)])
        assert kept == 10_000 // 128
    await store.forget("one")
    await store.forget("one")
    assert len(store) == 1
    with pytest.raises(NoSuchEvent):
        await store.after("one", "9", 1000)
    await store.append("other", "1", 1, [b"x" * 20_000], b"")
    with pytest.raises(NoSuchEvent):
        await store.after("other", "1", 2)


async def _has(store: MemoryEvents, session: str, number: int) -> bool:
    try:
        await store.after(session, "9", number)
    except NoSuchEvent:
        return False
    return True


async def test_what_a_dropped_client_never_fetches_is_bounded_by_the_store() -> None:
    server = Server("talks", "1", limits=Limits(event_bytes=50_000, outgoing_bytes=10_000))

    @server.tool
    async def talk(ctx: Context) -> str:
        for _ in range(300):
            await ctx.log("info", "x" * 1000)
            await asyncio.sleep(0)
        return "done"

    async with serving(server) as client:
        session = await client.session()
        response = await session.call("talk").until(lambda response: response.messages)
        await response.drop()
        kept = client.app.sessions[session.id]
        await until(lambda: not kept.session.running)
        await until(lambda: not kept.streams)
        assert (await session.get(response.events[0].id).until_over()).status == 400


@pytest.mark.requirement("transport.http.stream.not-closed-early")
@pytest.mark.parametrize("revision", ["2025-06-18", "2025-03-26"])
async def test_before_polling_a_stream_is_not_ended_before_its_answer(revision: str) -> None:
    schedule = Schedule("", (0, 1, 2, 4), frozenset({0, 2}), (), 0)
    async with serving(teller(schedule)) as client:
        response = (await client.session(revision)).call("tell")
        await response.until_over()
        assert len(response.messages) == 5
        assert response.messages[-1]["result"]["content"][0]["text"] == "told"
        assert all(event.retry is None for event in response.events)
