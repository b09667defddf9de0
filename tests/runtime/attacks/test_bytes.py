"""Peers that fill the memory: each is bounded, and a small peer beside it is always served."""

from __future__ import annotations

import asyncio
import gc
from typing import Any, Final

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.core.session.held import OF_PROCESS, RESERVE
from mcp_runtime.core.wire import error_codes
from mcp_runtime.extensions.tasks import Tasks
from mcp_runtime.limits import Limits
from tests.support.asgi_client import (
    LATEST,
    POST,
    SHAKEN,
    Client,
    Response,
    Session,
    initialize,
    mirrors,
    request,
    serving,
)
from tests.support.session_pair import held_by_process
from tests.support.virtual_time import elapse

MIB: Final = 1024 * 1024
LARGE: Final = 200_000
"""Bytes of an answer that an attacker does not read."""
ROOM: Final = 2 * MIB
ERAS: Final = (LATEST, *SHAKEN)
ATTACKER: Final = ("192.0.2.1", 1)
NEIGHBOUR: Final = ("192.0.2.1", 2)
STRANGER: Final = ("192.0.2.2", 1)


def room(**more: Any) -> Limits:
    return Limits(process_bytes=held_by_process() + ROOM, **more)


def ordinary(limits: Limits, **options: Any) -> Server:
    """A server whose list of tools has more than 4 KiB."""
    server = Server("ordinary", "1", limits=limits, **options)
    server.open = asyncio.Event()  # type: ignore[attr-defined]

    @server.tool
    async def large() -> str:
        return "x" * LARGE

    @server.tool
    async def wait(text: str = "") -> str:
        await server.open.wait()  # type: ignore[attr-defined]
        return "waited"

    for number in range(12):
        server.tool(name=f"tool{number}", description="d" * 500)(_nothing)
    return server


async def _nothing(text: str = "") -> str:
    return text


async def peer(via: Client, revision: str, **scope: Any) -> Any:
    """A client of one of the eras, at an address or with a principal."""
    if revision != LATEST:
        return await via.session(revision, **scope)
    return _PerRequest(via, scope)


class _PerRequest:
    def __init__(self, client: Client, scope: dict[str, Any]) -> None:
        self._client, self._scope = client, scope

    def request(self, method: str, params: Any = None) -> Response:

        said = request(method, params)
        return self._client.post(said, mirrors(said), **self._scope)

    def call(self, name: str, arguments: Any = None) -> Response:
        return self._client.call(name, arguments, **self._scope)


async def is_served(via: Client, **scope: Any) -> None:
    """A small peer lists the tools, and calls one, in each era."""
    for revision in ERAS:
        one = await peer(via, revision, **scope)
        listed = await one.request("tools/list").until_over()
        assert len(listed.body) > 4096
        assert len(listed.json["result"]["tools"]) == 14
        called = await one.call("tool1", {"text": "y" * 5000}).until_over()
        assert called.json["result"]["content"][0]["text"] == "y" * 5000


# ---- bodies


@pytest.mark.parametrize("client_at", [NEIGHBOUR, STRANGER])
async def test_bodies_that_are_declared_and_do_not_come_hold_nothing(client_at: Any) -> None:
    async with serving(ordinary(room())) as client:
        before = OF_PROCESS.count
        headers = {**POST, "content-length": str(4 * MIB)}
        begun = [
            client.begin("POST", "/mcp", headers, [b"{"], ends=False, client=ATTACKER)
            for _ in range(130)
        ]
        await elapse(1)
        assert OF_PROCESS.count - before <= 130
        await is_served(client, client=client_at)
        await asyncio.gather(*(each.until_over() for each in begun))
        assert {each.status for each in begun} == {408}


@pytest.mark.wide
@pytest.mark.parametrize("client_at", [NEIGHBOUR, STRANGER])
async def test_bodies_that_almost_come_give_way(client_at: Any) -> None:
    async with serving(ordinary(room())) as client:
        before = OF_PROCESS.count
        headers = {**POST, "content-length": str(LARGE)}
        part = b"[" * (LARGE - 1)
        begun = [
            client.begin("POST", "/mcp", headers, [part], ends=False, client=ATTACKER)
            for _ in range(40)
        ]
        await elapse(1)
        assert OF_PROCESS.count - before <= ROOM / 2
        await is_served(client, client=client_at)
        await asyncio.gather(*(each.task for each in begun))
        refused = [each for each in begun if each.status == 503]
        assert len(refused) >= 30
        for each in refused:
            assert "Limits.process_bytes" in each.error["message"]
            assert each.headers["retry-after"] == "1"
        gc.collect()
        assert OF_PROCESS.count - before < 20_000 * len(SHAKEN)  # the sessions of the small peer


# ---- answers that nobody reads


async def unread(attacker: Any, count: int) -> list[Response]:
    responses = []
    for _ in range(count):
        response = attacker.call("large")
        response.reads.clear()
        responses.append(response)
        await elapse(0.01)
    return responses


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize("client_at", [NEIGHBOUR, STRANGER])
async def test_answers_that_nobody_reads_give_way(revision: str, client_at: Any) -> None:
    async with serving(ordinary(room())) as client:
        before = OF_PROCESS.count
        attacker = await peer(client, revision, client=ATTACKER)
        await unread(attacker, 30)
        assert OF_PROCESS.count - before <= ROOM / 2 + LARGE
        await is_served(client, client=client_at)


@pytest.mark.wide
@pytest.mark.parametrize("revision", ERAS)
async def test_answers_that_a_principal_does_not_read_give_way_to_others(revision: str) -> None:
    def principal(scope: Any) -> str:
        return str(scope.get("user", ""))

    async with serving(ordinary(room()), principal=principal) as client:
        for name in ("eve", "mallory", "trudy"):
            await unread(await peer(client, revision, user=name), 15)
        assert OF_PROCESS.count <= held_by_process()
        await is_served(client, user="ann")
        await is_served(client, user="eve")


@pytest.mark.parametrize("revision", ERAS)
async def test_a_response_that_nobody_reads_ends(revision: str) -> None:
    async with serving(ordinary(Limits(unread_wait=20))) as client:
        attacker = await peer(client, revision, client=ATTACKER)
        before = held_by_process()
        responses = await unread(attacker, 3)
        started = asyncio.get_running_loop().time()
        await asyncio.wait([each.task for each in responses])
        assert 19 < asyncio.get_running_loop().time() - started <= 20
        assert not any(each.over for each in responses)
        client.open.clear()
        responses.clear()
        assert held_by_process() == before


async def test_a_slow_reader_has_that_time_for_each_part() -> None:
    async with serving(ordinary(Limits(unread_wait=20))) as client:
        response = client.call("large")
        parts = []
        response.reads.clear()
        while not response.task.done():
            await elapse(15)
            parts.append(len(response.sent))
            response.reads.set()
            await asyncio.sleep(0)
            response.reads.clear()
        assert response.over
        assert len(response.json["result"]["content"][0]["text"]) == LARGE


# ---- requests that run


@pytest.mark.parametrize("revision", ERAS)
async def test_requests_that_run_leave_room_for_others(revision: str) -> None:
    server = ordinary(room())
    async with serving(server) as client:
        before = OF_PROCESS.count
        attacker = await peer(client, revision, client=ATTACKER)
        running = [attacker.call("wait", {"text": "x" * 50_000}) for _ in range(60)]
        await elapse(1)
        assert OF_PROCESS.count - before <= ROOM / 2 + 2 * 50_000
        await is_served(client, client=STRANGER)
        server.open.set()  # type: ignore[attr-defined]
        await asyncio.gather(*(each.until_over() for each in running))


@pytest.mark.wide
async def test_small_requests_that_run_are_bounded_by_a_reserve() -> None:
    server = ordinary(room())
    async with serving(server) as client:
        before = OF_PROCESS.count
        for _ in range(8):
            session = await client.session(client=ATTACKER)
            for _ in range(200):
                session.call("wait", {"text": "x" * 3000})
            await elapse(0.1)
        assert OF_PROCESS.count - before <= ROOM + ROOM // RESERVE
        await is_served(client, client=STRANGER)
        server.open.set()  # type: ignore[attr-defined]
        await elapse(1)


# ---- batches


async def test_answers_of_an_open_batch_count_and_the_rest_get_errors() -> None:
    server = ordinary(room(held_bytes=5 * LARGE))
    async with serving(server) as client:
        before = OF_PROCESS.count
        session = await client.session("2025-03-26")
        calls = [_call(number, "large") for number in range(30)] + [_call(99, "wait")]
        batch = session.post(calls)
        await elapse(1)
        assert OF_PROCESS.count - before <= 7 * LARGE
        assert (await session.request("ping").until_over()).json["result"] == {}
        server.open.set()  # type: ignore[attr-defined]
        answers = {each["id"]: each for each in (await batch.until_over()).json}
        assert len(answers) == 31
        busy = [each for each in answers.values() if "error" in each]
        assert {each["error"]["code"] for each in busy} == {error_codes.BUSY}
        assert 20 <= len(busy) <= 26
        assert "result" in answers[0]
        assert "result" in answers[99]
        assert "result" in (await session.call("large").until_over()).json


def _call(id: int, name: str) -> dict[str, Any]:
    params = {"name": name, "arguments": {}}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


# ---- sessions


async def test_a_full_table_of_sessions_forgets_those_that_were_never_used() -> None:
    async with serving(ordinary(Limits(sessions=20))) as client:
        used, listening = await client.session(), await client.session()
        assert (await used.request("ping").until_over()).status == 200
        stream = listening.get()
        await stream.until_begun()
        for _ in range(100):
            await client.session(client=ATTACKER)
        assert len(client.app.sessions) <= 20
        assert (await used.request("ping").until_over()).status == 200
        assert (await listening.request("ping").until_over()).status == 200
        assert not stream.task.done()


async def test_of_sessions_that_were_used_the_idlest_makes_room() -> None:
    async with serving(ordinary(Limits(sessions=3))) as client:
        sessions = []
        for _ in range(4):
            sessions.append(await client.session())
            assert (await sessions[-1].request("ping").until_over()).status == 200
            await elapse(1)
        statuses = [(await each.request("ping").until_over()).status for each in sessions]
        assert statuses == [404, 200, 200, 200]


async def test_a_session_is_refused_only_where_each_has_an_open_response() -> None:
    server = ordinary(Limits(sessions=2))
    async with serving(server) as client:
        for session in (await client.session(), await client.session()):
            await session.get().until_begun()
        refused = await client.post(_initialize()).until_over()
        assert (refused.status, "Limits.sessions" in refused.error["message"]) == (503, True)


def _initialize() -> Any:

    return initialize(SHAKEN[0])


def elsewhere(number: int) -> dict[str, Any]:
    """The scope of a client at an address of its own."""
    return {"client": (f"198.51.100.{number}", number)}


async def test_a_peer_that_fills_the_table_with_open_streams_loses_the_oldest() -> None:
    async with serving(ordinary(Limits(sessions=20))) as client:
        mine = await client.session(**elsewhere(1))
        streams = []
        for _ in range(19):
            session = await client.session(client=ATTACKER)
            streams.append(session.get())
            await streams[-1].until_begun()
            await elapse(1)
        refused = await client.post(_initialize(), client=ATTACKER).until_over()
        assert (refused.status, "Limits.sessions" in refused.error["message"]) == (503, True)
        another = await client.session(**elsewhere(2))
        for session in (mine, another):
            assert (await session.request("ping").until_over()).status == 200
        assert [each.task.done() for each in streams] == [True] + [False] * 18


async def test_sessions_of_http_sse_give_way_to_a_small_peer_too() -> None:
    async with serving(ordinary(Limits(sessions=20))) as client:
        sent = {"host": "localhost", "accept": "text/event-stream"}
        streams = [client.begin("GET", "/sse", sent, client=ATTACKER) for _ in range(20)]
        await asyncio.gather(*(each.until_begun() for each in streams))
        session = await client.session(**elsewhere(1))
        assert (await session.request("ping").until_over()).status == 200
        assert [each.over for each in streams] == [True] + [False] * 19
        refused = await client.begin("GET", "/sse", sent, client=ATTACKER).until_over()
        assert (refused.status, "Limits.sessions" in refused.error["message"]) == (503, True)


async def test_a_peer_that_uses_its_many_sessions_does_not_end_the_idle_one_of_another() -> None:
    async with serving(ordinary(Limits(sessions=20))) as client:
        mine = await client.session(**elsewhere(1))
        assert (await mine.request("ping").until_over()).status == 200
        for _ in range(60):
            session = await client.session(client=ATTACKER)
            assert (await session.request("ping").until_over()).status == 200
            await elapse(1)
        assert (await mine.request("ping").until_over()).status == 200


# ---- requests without a session


async def open_requests(via: Client, what: str, count: int, **scope: Any) -> list[Response]:
    """So many requests of a peer that have no end."""
    if what == "listen":
        wanted = {"notifications": {"toolsListChanged": True}}
        said = request("subscriptions/listen", wanted)
        opened = [via.post(said, mirrors(said), **scope) for _ in range(count)]
    else:
        opened = [via.call("wait", **scope) for _ in range(count)]
    await elapse(0.1)
    return opened


@pytest.mark.parametrize("what", ["call", "listen"])
async def test_a_full_table_of_requests_gives_up_those_of_the_peer_with_most(what: str) -> None:
    server = ordinary(Limits(sessions=20))
    async with serving(server) as client:
        mine = client.call("wait", **elsewhere(1))
        attacked = await open_requests(client, what, 25, client=ATTACKER)
        refused = attacked[19:]
        await asyncio.gather(*(each.until_over() for each in refused))
        assert {each.status for each in refused} == {503}
        assert all("Limits.sessions" in each.error["message"] for each in refused)
        for number in range(2, 5):
            await is_served(client, **elsewhere(number))
        first = await attacked[0].until_over()
        if what == "call":
            assert first.json["error"]["code"] == error_codes.sendable(
                error_codes.BUSY, "per-request"
            )
            assert "Limits.sessions" in first.json["error"]["message"]
        else:
            assert first.messages[-1]["result"]["resultType"] == "complete"
        assert not any(each.task.done() for each in attacked[10:19])
        server.open.set()  # type: ignore[attr-defined]
        assert (await mine.until_over()).json["result"]["content"][0]["text"] == "waited"


async def test_where_each_peer_has_as_few_requests_the_next_one_is_refused() -> None:
    async with serving(ordinary(Limits(sessions=5))) as client:
        opened = [client.call("wait", **elsewhere(number)) for number in range(5)]
        await elapse(0.1)
        refused = await client.call("tool1", **elsewhere(9)).until_over()
        assert (refused.status, "Limits.sessions" in refused.error["message"]) == (503, True)
        assert not any(each.task.done() for each in opened)


async def test_a_principal_with_most_requests_gives_way_to_another_on_the_same_address() -> None:
    server = ordinary(Limits(sessions=20))
    async with serving(server, principal=lambda scope: scope["user"]) as client:
        attacked = await open_requests(client, "call", 20, user="eve")
        answer = await client.call("tool1", {"text": "hello"}, user="ann").until_over()
        assert answer.json["result"]["content"][0]["text"] == "hello"
        await attacked[0].until_over()
        assert not attacked[1].task.done()


# ---- what is kept


async def streamed(session: Session, name: str) -> str:
    """Calls a tool whose answer comes on a stream; the id of the stream's first event."""
    response = await session.call(name).until_over()
    return str(response.events[0].id)


def streaming(limits: Limits) -> Server:
    server = Server("streaming", "1", limits=limits)

    @server.tool
    async def events(ctx: Context, size: int = LARGE) -> str:
        await ctx.log("error", "first")
        return "x" * size

    return server


async def test_an_event_over_event_bytes_is_not_kept_and_resuming_says_so() -> None:
    async with serving(streaming(Limits(event_bytes=100_000))) as client:
        session = await client.session()
        before = OF_PROCESS.count
        id = await streamed(session, "events")
        assert OF_PROCESS.count - before <= 100_000
        resumed = await session.get(id).until_over()
        assert (resumed.status, "no longer kept" in resumed.error["message"]) == (400, True)


async def test_events_of_all_sessions_are_bounded_and_the_oldest_are_forgotten() -> None:
    async with serving(streaming(room())) as client:
        before = OF_PROCESS.count
        kept = []
        for _ in range(20):
            session = await client.session(client=ATTACKER)
            kept.append((session, await streamed(session, "events")))
            assert OF_PROCESS.count - before <= ROOM
        statuses = [(await each.get(id).until_begun()).status for each, id in kept]
        assert statuses == sorted(statuses, reverse=True)
        assert (statuses[0], statuses[-1]) == (400, 200)


async def test_subscriptions_count_and_are_refused_where_there_is_no_room() -> None:
    server = Server("s", "1", limits=room(), offers=["resources"])

    @server.resource("note://{+name}")
    def note(name: str) -> str:
        return name

    async with serving(server) as client:
        before, statuses = OF_PROCESS.count, list[bool]()
        for number in range(3):
            session = await client.session(client=ATTACKER)
            for other in range(20):
                uri = f"note://{number}-{other}{'x' * 60_000}"
                answer = await session.request("resources/subscribe", {"uri": uri}).until_over()
                statuses.append("result" in answer.json)
        assert OF_PROCESS.count - before <= ROOM / 2 + 300_000
        assert (statuses[0], statuses[-1]) == (True, False)
        session = await client.session(client=STRANGER)
        answer = await session.request("resources/subscribe", {"uri": "note://a"}).until_over()
        assert "result" in answer.json


# ---- tasks


def working(limits: Limits) -> Server:
    tasks = Tasks(ttl=3600)
    server = Server("working", "1", limits=limits, extensions=[tasks])

    @server.tool(options=[tasks.required])
    async def job(size: int = LARGE) -> str:
        return "x" * size

    return server


async def begin_task(session: Session, **arguments: Any) -> str:
    answer = await session.call("job", arguments, {"task": {}}).until_over()
    return str(answer.json["result"]["task"]["taskId"])


async def _state(session: Session, id: str) -> str:
    answer = (await session.request("tasks/get", {"taskId": id}).until_over()).json
    return str(answer["result"]["status"]) if "result" in answer else "unknown"


async def test_ended_tasks_are_bounded_and_the_oldest_are_forgotten() -> None:
    async with serving(working(room())) as client:
        session, before = await client.session(), OF_PROCESS.count
        ids = []
        for _ in range(20):
            ids.append(await begin_task(session))
            await elapse(1)
            assert OF_PROCESS.count - before <= ROOM
        states = [await _state(session, id) for id in ids]
        assert states == sorted(states, reverse=True)
        assert (states[0], states[-1]) == ("unknown", "completed")


async def test_a_full_table_of_tasks_forgets_those_that_are_over() -> None:
    async with serving(working(Limits(tasks=4))) as client:
        session = await client.session()
        ids = []
        for _ in range(8):
            ids.append(await begin_task(session, size=1))
            await elapse(1)
        states = [await _state(session, id) for id in ids]
        assert states == ["unknown"] * 4 + ["completed"] * 4
