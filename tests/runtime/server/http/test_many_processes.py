"""Servers that share stores and a bus go on with each other's sessions, as several processes do."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec
import pytest

from mcp_runtime import Context, Server
from mcp_runtime.core.session.subscriptions import Change
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.server.broadcast import ChangeBroadcaster
from mcp_runtime.server.decorators import Decorators
from mcp_runtime.server.http.cluster.cluster import Cluster, Forwarded
from mcp_runtime.stores import Kept
from mcp_runtime.stores.memory import MemoryBus, MemorySessions, MemoryStore
from tests.runtime.server.http.test_requests import LISTEN
from tests.support.asgi_client import GET, Client, Session, initialize
from tests.support.patience import until
from tests.support.virtual_time import elapse


@dataclass
class Confirmed:
    yes: bool


def _server(name: str, go: asyncio.Event, limits: Limits = DEFAULT) -> Server:
    keys = [bytes(32)]
    server = Server(name, "1", offers=["tools", "resources"], limits=limits, keys=keys)

    @server.tool
    async def where(ctx: Context) -> str:
        await ctx.log("debug", f"asked at {name}")
        return name

    @server.tool
    async def later(ctx: Context) -> str:
        await ctx.log("error", "first")
        await go.wait()
        await ctx.log("error", "second")
        return name

    @server.tool
    async def confirm(ctx: Context) -> str:
        return str((await ctx.elicit("sure?", Confirmed)).content)

    @server.resource("note://one")
    def note() -> str:
        return "one"

    @server.tool(tags={"locked"})
    async def vault() -> str:
        return "gold"

    @server.tool
    async def unlock(ctx: Context) -> str:
        await ctx.enable(tags={"locked"})
        return "unlocked"

    server.disable(tags={"locked"})
    return server


@asynccontextmanager
async def two(
    limits: Limits = DEFAULT,
) -> AsyncGenerator[tuple[Client, Client, MemoryStore, asyncio.Event]]:
    shared, go = MemoryStore(), asyncio.Event()

    def principal(scope: dict[str, object]) -> str:
        return str(scope.get("who", ""))

    one, other = (
        Client(_server(name, go, limits).asgi(store=shared, principal=principal))
        for name in ("one", "other")
    )
    yield one, other, shared, go
    for client in (one, other):
        for response in client.open:
            response.disconnect()
        await client.app.drain()
        await asyncio.gather(*(response.task for response in client.open))


def at(client: Client, session: Session) -> Session:
    """The same session, asked at another process."""
    moved = Session(client, session.id, session.revision, session.scope)
    moved.last = 1000
    return moved


async def test_a_session_goes_on_where_it_was_not_begun() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        level = begun.request("logging/setLevel", {"level": "debug"})
        assert (await level.until_over()).json["result"] == {}
        called = await at(other, begun).call("where").until_over()
        logged, answer = called.messages
        assert logged["params"]["data"] == "asked at other"
        assert answer["result"]["content"][0]["text"] == "other"
        quiet = at(other, begun).request("logging/setLevel", {"level": "error"})
        await quiet.until_over()
        again = await begun.call("where").until_over()
        assert again.json["result"]["content"][0]["text"] == "one"


async def test_a_session_is_no_one_elses_in_any_process() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session(who="ann")
        for client in (one, other):
            for who, status in (("ann", 200), ("bob", 404), ("", 404)):
                session = Session(client, begun.id, begun.revision, {"who": who})
                assert (await session.call("where").until_over()).status == status


@pytest.mark.parametrize("data", [b"\xff", b"{", b"[]", b'{"principal":"ann"}'])
async def test_a_session_whose_record_cannot_be_read_is_lost(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with two() as (one, other, shared, _):
        begun = await one.session()
        kept = await shared.sessions.get(begun.id)
        assert kept is not None
        assert await shared.sessions.put(begun.id, data, kept.version)
        for client in (one, other):
            session = at(client, begun)
            assert (await session.call("where").until_over()).status == 404
            assert "its record in the store cannot be read" in caplog.text
            caplog.clear()
        assert one.app.sessions == {}
        assert (await (await one.session()).call("where").until_over()).status == 200


async def test_a_change_of_a_session_whose_record_can_no_longer_be_read_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with two() as (one, _, shared, _):
        begun = await one.session()
        get = shared.sessions.get

        async def get_then_spoil(id: str) -> Kept | None:
            if (kept := await get(id)) is not None:
                await shared.sessions.put(id, b"{", kept.version)
            return kept

        monkeypatch.setattr(shared.sessions, "get", get_then_spoil)
        level = begun.request("logging/setLevel", {"level": "debug"})
        assert (await level.until_over()).status == 404
        assert one.app.sessions == {}


async def test_a_session_that_was_deleted_is_gone_everywhere() -> None:
    async with two() as (one, other, shared, _):
        begun = await one.session()
        stream = begun.get()
        await stream.until_begun()
        assert (await at(other, begun).delete().until_over()).status == 204
        assert (await begun.call("where").until_over()).status == 404
        await stream.until_over()
        assert (one.app.sessions, len(shared.sessions), len(shared.events)) == ({}, 0, 0)


async def test_a_session_outlives_the_process_that_began_it() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        await one.app.drain()
        called = await at(other, begun).call("where").until_over()
        assert called.messages[-1]["result"]["content"][0]["text"] == "other"


async def test_an_unknown_session_and_a_long_id_are_none_in_any_process() -> None:
    async with two() as (one, _, shared, _):
        for id in ("a" * 43, "a" * 60_000):
            assert (await Session(one, id, "2025-11-25").call("where").until_over()).status == 404
        assert len(shared.sessions) == 0


async def test_a_stream_is_resumed_where_it_was_not_begun() -> None:
    async with two() as (one, other, shared, go):
        begun = await one.session()
        response = begun.call("later")
        await response.until_events(2)
        await response.drop()
        go.set()
        await until(lambda: b"result" in str(shared.events._sessions).encode())
        rest = await at(other, begun).get(response.events[-1].id).until_over()
        second, answer = rest.messages
        assert second["params"]["data"] == "second"
        assert (answer["id"], answer["result"]["content"][0]["text"]) == (1, "one")


async def test_what_two_processes_number_in_one_session_never_meets() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session(capabilities={"elicitation": {}})
        responses = [begun.call("confirm"), at(other, begun).call("confirm")]
        for each in responses:
            await each.until_events(2)
        ids = [each.messages[0]["id"] for each in responses]
        names = [each.events[0].id.partition(".")[0] for each in responses]
        assert len({*ids}) == len({*names}) == 2
        assert all(id < 2**53 for id in ids)


async def test_a_change_is_heard_once_by_the_clients_of_every_process() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        watched = begun.request("resources/subscribe", {"uri": "note://one"})
        assert (await watched.until_over()).status == 200
        stream, listened = begun.get(), one.request("subscriptions/listen", LISTEN)
        await other.session()
        await stream.until_begun()
        await listened.until_events(1)
        other.app._service.server.resource_updated("note://one")
        Decorators(other.app._service.server).tool(lambda: "new", name="new")
        await stream.until(lambda it: len(it.messages) == 2)
        await listened.until(lambda it: len(it.messages) == 2)
        await elapse(0.01)
        assert [message["method"] for message in stream.messages] == [
            "notifications/resources/updated",
            "notifications/tools/list_changed",
        ]
        assert listened.messages[1]["method"] == "notifications/tools/list_changed"
        assert len(listened.messages) == 2


@pytest.mark.parametrize("resumes", [True, False])
async def test_a_change_between_two_streams_is_not_missed_where_the_session_was_not_open(
    resumes: bool,
) -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        await begun.request("resources/subscribe", {"uri": "note://one"}).until_over()
        stream, updated = begun.get(), one.app._service.server.resource_updated
        await stream.until_begun()
        updated("note://one")
        await stream.until(lambda it: it.messages)
        await stream.drop()
        updated("note://one")
        last = stream.events[-1].id if resumes else None
        moved = at(other, begun).get(last)
        await moved.until(lambda it: it.messages)
        assert moved.messages[0]["params"] == {"uri": "note://one"}
        await moved.drop()
        await at(other, begun).request("ping").until_over()
        again = at(other, begun).get(moved.events[-1].id)
        await again.until_begun()
        Decorators(other.app._service.server).tool(lambda: "new", name="new")
        await again.until(lambda it: it.messages)
        assert again.messages[0]["method"] == "notifications/tools/list_changed"


async def test_a_session_hears_once_of_a_list_that_differs_since_a_deploy() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        Decorators(other.app._service.server).tool(lambda: "new", name="deployed")
        moved = at(other, begun)
        stream = moved.get()
        await stream.until(lambda it: it.messages)
        (announced,) = stream.messages
        assert announced["method"] == "notifications/tools/list_changed"
        await stream.drop()
        other.app._table.open.clear()  # as a restart of the process does
        again = moved.get()
        await again.until_begun()
        other.app._service.server.resource_updated("note://one")
        assert (await moved.request("ping").until_over()).json["result"] == {}
        assert not again.messages


async def test_what_is_no_change_on_the_bus_is_logged_and_the_next_is_heard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with two() as (one, other, shared, _):
        stream = one.request("subscriptions/listen", LISTEN)
        await stream.until_events(1)
        await other.session()
        with caplog.at_level(logging.WARNING, "mcp_runtime"):
            for message in (
                b"{",
                b"\xff",
                b"[]",
                b'{"sender":1}',
                b'{"sender":"x","list":"?"}',
            ):
                shared.bus.publish("changes", message)
            Decorators(other.app._service.server).tool(lambda: "new", name="new")
            await stream.until(lambda it: len(it.messages) == 2)
        assert len(caplog.records) == 8  # four in each process


def test_a_process_with_keys_of_its_own_warns_when_it_shares_a_store(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MCP_STATE_KEYS", raising=False)
    for options in ({}, {"keys": [bytes(32)]}):
        Server("keys", "1", **options).asgi(store=MemoryStore())
    (record,) = caplog.records
    assert "this process has its own keys" in record.message
    assert "tasks can be read by no other process, nor after a restart" in record.message


# ---- what lands at a process that does not wait for it


async def test_an_answer_that_lands_on_the_wrong_process_reaches_the_right_one() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session(capabilities={"elicitation": {}})
        response = begun.call("confirm")
        await response.until_events(2)
        question = response.messages[0]
        answer = {"action": "accept", "content": {"yes": True}}
        sent = at(other, begun).post({"jsonrpc": "2.0", "id": question["id"], "result": answer})
        assert (await sent.until_over()).status == 202
        await response.until_over()
        text = response.messages[-1]["result"]["content"][0]["text"]
        assert text == "Confirmed(yes=True)"


async def test_a_cancellation_that_lands_on_the_wrong_process_cancels() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        response = begun.call("later")
        await response.until_events(2)
        id = begun.last
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": id}}
        await at(other, begun).post({"jsonrpc": "2.0", **cancelled}).until_over()
        await response.until_over()
        assert all("result" not in message for message in response.messages)


async def test_a_stream_goes_on_live_at_another_process() -> None:
    async with two() as (one, other, _, go):
        begun = await one.session()
        response = begun.call("later")
        await response.until_events(2)
        await response.drop()
        rest = at(other, begun).get(response.events[-1].id)
        await rest.until_begun()
        await elapse(0.02)
        assert rest.messages == []
        go.set()
        await rest.until_over()
        second, answer = rest.messages
        assert second["params"]["data"] == "second"
        assert (answer["id"], answer["result"]["content"][0]["text"]) == (1, "one")
        assert len({event.id for event in rest.events}) == len(rest.events)


async def test_the_stream_of_get_goes_on_at_whichever_process_is_asked() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        last, ids, servers = "", list[str](), [one, other, other, one, one, other]
        for number, client in enumerate(servers):
            session = at(client, begun)
            stream = await (session.get(last) if number % 3 else session.get()).until_begun()
            Decorators(one.app._service.server).add_tool(_nothing, name=f"tool{number}")
            await stream.until(lambda stream: bool(stream.messages))
            await stream.drop()
            ids += [event.id for event in stream.events]
            last = ids[-1]
        assert len({*ids}) == len(ids)
        later = [id for id in ids[1:] if _same(id, ids[0])]
        rest = await at(other, begun).get(ids[0]).until_events(len(later))
        assert [event.id for event in rest.events][: len(later)] == later
        await rest.drop()


async def test_the_stream_of_get_is_closed_with_a_time_to_reconnect_when_its_process_ends() -> None:
    async with two() as (one, other, _, _):
        begun, older = await one.session(), await one.session("2025-06-18")
        stream, silent = await begun.get().until_events(1), await older.get().until_begun()
        await one.app.drain()
        await stream.until_over()
        await silent.until_over()
        assert [event.retry for event in stream.events] == [None, 1000]
        assert silent.events == []
        again = await at(other, begun).get(stream.events[0].id).until_begun()
        Decorators(other.app._service.server).add_tool(_nothing, name="new")
        await again.until(lambda again: len(again.messages) == 1)
        await again.drop()


async def _nothing() -> None: ...


def _same(id: str, other: str) -> bool:
    """Whether both events are of one stream."""
    return id.rpartition(".")[0] == other.rpartition(".")[0]


async def test_a_call_whose_process_has_died_is_answered_with_an_error_once() -> None:
    async with two(Limits(lease=0.1)) as (one, other, shared, _):
        begun = await one.session()
        response = begun.call("later")
        await response.until_events(2)
        await response.drop()
        for task in asyncio.all_tasks():
            if "Cluster._renew" in repr(task.get_coro()):
                task.cancel()
        rests = [at(other, begun).get(response.events[-1].id) for _ in range(2)]
        await asyncio.gather(*(rest.until_over() for rest in rests))
        for rest in rests:
            (answer,) = rest.messages
            assert (answer["id"], answer["error"]["code"]) == (1, -32603)
            assert answer["error"]["data"] == {"reason": "process-ended"}
        assert len(shared.events._sessions[begun.id].events) == 3


async def test_a_post_at_one_process_does_not_undo_a_delete_at_another() -> None:
    async with two() as (one, other, shared, _):
        begun = await one.session()
        put, deleted = shared.sessions.put, asyncio.Event()

        async def late(session: str, record: bytes, version: int) -> bool:
            await deleted.wait()
            return await put(session, record, version)

        shared.sessions.put = late
        level = begun.request("logging/setLevel", {"level": "debug"})
        await elapse(0.01)
        assert (await at(other, begun).delete().until_over()).status == 204
        deleted.set()
        assert (await level.until_over()).status == 404
        for client in (one, other):
            assert (await at(client, begun).call("where").until_over()).status == 404
        assert (one.app.sessions, other.app.sessions, len(shared.sessions)) == ({}, {}, 0)


async def test_what_two_processes_change_in_a_session_at_once_is_kept_of_both() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        assert (await at(other, begun).call("where").until_over()).status == 200
        both = [
            begun.request("logging/setLevel", {"level": "debug"}),
            at(other, begun).request("resources/subscribe", {"uri": "note://one"}),
        ]
        for each in both:
            assert (await each.until_over()).status == 200
        for client in (one, other):
            called = await at(client, begun).call("where").until_over()
            assert len(called.messages) == 2
            session = client.app.sessions[begun.id].server_session
            assert session.subscriptions.watched == {"note://one"}


async def test_a_message_of_http_sse_reaches_the_process_that_has_the_stream() -> None:
    async with two() as (one, other, _, _):
        stream = one.begin("GET", "/sse", GET)
        await stream.until_events(1)
        query = stream.events[0].data.decode().partition("?")[2]

        async def post(message: object, query: str = query) -> int:
            sent = other.post(message, path="/messages", query=query)
            return (await sent.until_over()).status

        assert await post(initialize("2024-11-05")) == 202
        assert await post({"jsonrpc": "2.0", "id": 1, "method": "ping"}) == 202
        await stream.until_events(3)
        assert [json.loads(event.data)["id"] for event in stream.events[1:]] == [0, 1]
        assert await post(initialize("2024-11-05"), query.replace(".", "9.")) == 404
        assert await post(initialize("2024-11-05"), query="session_id=1") == 404
        await stream.drop()
        await one.app.drain()
        assert await post(initialize("2024-11-05")) == 404


async def test_a_message_that_the_bus_brings_twice_is_handled_once() -> None:
    async with two() as (one, other, shared, _):
        publish = shared.bus.publish

        def repeated(topic: str, message: bytes) -> None:
            publish(topic, message)
            publish(topic, message)

        shared.bus.publish = repeated
        stream = one.begin("GET", "/sse", GET)
        await stream.until_events(1)
        query = stream.events[0].data.decode().partition("?")[2]
        for id, method in enumerate(["initialize", "ping", "ping"]):
            message = initialize("2024-11-05") if not id else {"jsonrpc": "2.0", "method": method}
            sent = other.post({**message, "id": id}, path="/messages", query=query)
            assert (await sent.until_over()).status == 202
            await stream.until_events(id + 2)
        await elapse(0.02)
        assert [json.loads(event.data)["id"] for event in stream.events[1:]] == [0, 1, 2]
        await stream.drop()


async def test_a_message_that_the_bus_brings_after_one_of_another_topic_is_handled() -> None:
    async with two() as (one, other, shared, _):
        stream = one.begin("GET", "/sse", GET)
        await stream.until_events(1)
        query = stream.events[0].data.decode().partition("?")[2]
        publish, late = shared.bus.publish, list[tuple[str, bytes]]()
        shared.bus.publish = lambda topic, message: late.append((topic, message))
        sent = other.post(initialize("2024-11-05"), path="/messages", query=query)
        assert (await sent.until_over()).status == 202
        shared.bus.publish = publish
        assert other.app._cluster is not None
        other.app._cluster.changed("of another session")
        await elapse(0.02)
        for topic, message in late:
            publish(topic, message)
        await stream.until_events(2)
        await stream.drop()


def test_what_is_known_of_other_processes_is_bounded_and_the_oldest_is_forgotten() -> None:
    received = list[tuple[int, int]]()
    cluster = Cluster(
        MemoryStore(), DEFAULT, lambda message: received.append((message.sender, message.number))
    )

    def hear(sender: int, number: int) -> None:
        cluster._on_message("processes", msgspec.json.encode(Forwarded(sender, "s", number)))

    hear(0, 5)
    for sender in range(1, 10_000):
        hear(sender, 1)
        hear(0, 5)
    assert len(cluster._last) == 4096
    assert received == [(0, 5), *((sender, 1) for sender in range(1, 10_000))]
    for sender in (9_999, 5_905, 5_904):
        hear(sender, 1)
    assert received[10_000:] == [(5_904, 1)]


async def test_processes_that_were_forked_from_one_have_numbers_of_their_own() -> None:
    """As the workers of gunicorn with --preload, which make the application before they fork."""

    cluster = Cluster(MemoryStore(), DEFAULT, lambda message: None)
    forked = copy.copy(cluster)
    async with cluster.join(), forked.join():
        assert cluster.number != forked.number


class Listener:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.uris: list[str] = []
        self.threads: list[int] = []

    def notify_change(self, change: Change, /) -> None:
        self.uris.append(change.uri)
        self.threads.append(threading.get_ident())


async def test_changes_reach_a_process_that_was_forked_from_the_one_that_announces_them() -> None:
    one, bus = ChangeBroadcaster(), MemoryBus()
    forked = copy.deepcopy(one)
    async with one.share(bus), forked.share(bus):
        listener = Listener(asyncio.get_running_loop())
        forked.connections.add(listener)
        one.broadcast(Change(uri="note://one"))
        await until(lambda: listener.uris == ["note://one"])


@pytest.mark.real_time
async def test_a_client_on_the_event_loop_of_another_thread_is_notified_there() -> None:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    listener, changes = Listener(loop), ChangeBroadcaster()
    changes.connections.add(listener)
    thread.start()
    try:
        changes.broadcast(Change(uri="note://one"))
        await until(lambda: bool(listener.uris))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    changes.broadcast(Change(uri="note://two"))
    assert (listener.uris, listener.threads) == (["note://one"], [thread.ident])


# ---- the stores of one process


async def test_sessions_that_are_not_used_are_given_up_the_oldest_first() -> None:
    now = 0.0
    kept = MemorySessions(Limits(sessions=3, session_idle=10), clock=lambda: now)
    for name in "abcd":
        assert await kept.put(name, name.encode(), 0)
    b, c, d = (Kept(1, name) for name in (b"b", b"c", b"d"))
    assert [await kept.get(name) for name in "abcd"] == [None, b, c, d]
    now = 6
    assert await kept.get("b") == b
    now = 12
    assert [await kept.get(name) for name in "bcd"] == [b, None, None]
    assert len(kept) == 1


@pytest.mark.real_time
async def test_a_bus_brings_messages_to_every_loop_until_its_end() -> None:
    bus, here, there = MemoryBus(), list[bytes](), list[bytes]()

    async def elsewhere() -> None:
        async with bus.subscribed("all", there.append):
            ready.set()
            await until(lambda: len(there) == 2)

    ready = asyncio.Event()
    ready.set = lambda: loop.call_soon_threadsafe(asyncio.Event.set, ready)
    loop = asyncio.get_running_loop()
    thread = asyncio.create_task(asyncio.to_thread(asyncio.run, elsewhere()))
    await ready.wait()
    async with bus.subscribed("all", here.append):
        bus.publish("all", b"one")
        bus.publish("all", b"two")
        await until(lambda: len(here) == 2)
    await thread
    bus.publish("all", b"three")
    await asyncio.sleep(0)
    assert here == there == [b"one", b"two"]


async def test_a_feature_that_a_session_enables_is_enabled_in_every_process() -> None:
    async with two() as (one, other, _, _):
        begun = await one.session()
        moved = at(other, begun)
        before = (await moved.request("tools/list").until_over()).json["result"]["tools"]
        listening = moved.get()
        await begun.call("unlock").until_over()
        after = (await moved.request("tools/list").until_over()).json["result"]["tools"]
        assert {each["name"] for each in after} - {each["name"] for each in before} == {"vault"}
        assert (await moved.call("vault").until_over()).json["result"]["content"][0][
            "text"
        ] == "gold"
        await until(lambda: bool(listening.messages))
        assert listening.messages[0]["method"] == "notifications/tools/list_changed"
        fresh = await other.session()
        assert (await fresh.request("tools/list").until_over()).json["result"]["tools"] == before
