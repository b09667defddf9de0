"""Sessions of the handshake era over HTTP: who begins one, who may use it, and how it ends.

Source: 2025-11-25 basic/transports, "Streamable HTTP"; 2025-03-26 for batches.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.core.wire import error_codes
from mcp_runtime.limits import Limits
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.stores.memory import MemorySessions, MemoryStore
from tests.support.asgi_client import (
    BOTH,
    GET,
    LATEST,
    POST,
    SHAKEN,
    Session,
    initialize,
    plain,
    serving,
)
from tests.support.clock import Clock
from tests.support.patience import until
from tests.support.virtual_time import elapse

PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.requirement(
    "transport.http.endpoint.post-and-get",
    "transport.http.session.assigned",
    "transport.http.session.id-charset",
    "transport.http.session.id-strong",
    "security.session.random-source",
    "security.session.unpredictable",
    "versioning.era.concurrent",
    "versioning.era.dual-server",
    "versioning.era.select-legacy",
)
@pytest.mark.parametrize("revision", [*SHAKEN, "2024-11-05"])
async def test_initialize_begins_a_session_under_an_id_of_its_own(revision: str) -> None:
    async with serving() as client:
        sessions = [await client.session(revision) for _ in range(20)]
        ids = {session.id for session in sessions}
        assert len(ids) == 20
        assert all(len(id) >= 43 and all("!" <= each <= "~" for each in id) for id in ids)
        response = await sessions[3].call("echo", {"text": "hello"}).until_over()
        assert response.headers["content-type"] == "application/json"
        assert response.json["result"]["content"] == [{"type": "text", "text": "hello"}]
        modern = await client.call("echo", {"text": "hello"}).until_over()
        assert modern.json["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    "params",
    [None, {}, {"protocolVersion": "2025-11-25"}, {"protocolVersion": 1}, {"capabilities": {}}],
)
async def test_an_initialize_that_is_refused_leaves_no_session(params: Any) -> None:
    server = plain()
    async with serving(server) as client:
        said = {**initialize("2025-11-25"), "params": params}
        if params is None:
            del said["params"]
        response = await client.post(said).until_over()
        assert (response.status, response.json["id"]) == (400, 0)
        assert "mcp-session-id" not in response.headers
        assert (client.app.sessions, dispatcher_of(server).connections) == ({}, set())


@pytest.mark.requirement("transport.http.session.missing")
@pytest.mark.parametrize("message", [PING, {"jsonrpc": "2.0", "method": "initialize"}, [PING]])
async def test_what_needs_a_session_and_names_none_is_a_bad_request(message: Any) -> None:
    async with serving() as client:
        response = await client.post(message).until_over()
        assert response.status == 400
        for method in ("GET", "DELETE"):
            response = await client.ask(method, "/mcp", GET)
            assert (response.status, "Mcp-Session-Id" in response.error["message"]) == (
                400,
                True,
            )


@pytest.mark.requirement("transport.http.session.gone", "lifecycle.shutdown.http")
async def test_a_session_ends_with_delete_and_is_not_found_after_that() -> None:
    server = plain()
    async with serving(server) as client:
        session, other = await client.session(), await client.session()
        stream = await session.get().until_begun()
        deleted = await session.delete().until_over()
        assert (deleted.status, deleted.body) == (204, b"")
        assert (await stream.until_over()).over
        for response in (session.request("ping"), session.get(), session.delete()):
            await response.until_over()
            assert (response.status, "session" in response.error["message"]) == (404, True)
        again = await session.post(initialize("2025-11-25")).until_over()
        assert again.status == 404
        assert (await other.request("ping").until_over()).status == 200
        assert [*client.app.sessions] == [other.id]
        assert len(dispatcher_of(server).connections) == 1


@pytest.mark.requirement("security.session.bound-to-user", "security.session.not-authentication")
async def test_a_session_is_there_for_who_began_it_and_for_nobody_else() -> None:
    def who(scope: Any) -> str:
        return str(scope.get("user", ""))

    async with serving(principal=who) as client:
        session = await client.session(user="ann")
        mine = await session.get().until_begun()
        for user in ({"user": "bob"}, {"user": "Ann"}, {}):
            stolen = Session(client, session.id, session.revision, user)
            for response in (
                stolen.request("ping"),
                stolen.get(),
                stolen.get("1.1"),
                stolen.delete(),
                stolen.post(initialize("2025-11-25")),
            ):
                assert (await response.until_over()).status == 404
        unknown = Session(client, "x" * 43, session.revision, {"user": "ann"})
        assert (await unknown.request("ping").until_over()).status == 404
        assert (await session.request("ping").until_over()).status == 200
        assert not mine.over


@pytest.mark.requirement("transport.http.version-header.bad")
@pytest.mark.parametrize("version", ["", "x", "2099-01-01", "2025-11-25, 2025-11-25", "ä"])
async def test_a_version_header_that_names_no_spoken_revision_is_a_bad_request(
    version: str,
) -> None:
    async with serving() as client:
        session = await client.session()
        wrong = {"mcp-protocol-version": version}
        for response in (
            session.post(PING, wrong),
            session.get(headers=wrong),
            client.post(initialize("2025-11-25"), wrong),
            client.begin("DELETE", "/mcp", {**GET, **session.headers, **wrong}),
        ):
            await response.until_over()
            assert (response.status, "2025-11-25" in response.error["message"]) == (400, True)
        assert (await session.request("ping").until_over()).status == 200


@pytest.mark.requirement("transport.http.version-header.absent")
async def test_a_session_knows_its_revision_without_the_header() -> None:
    async with serving() as client:
        session = await client.session("2025-06-18")
        response = await client.post(PING, {"mcp-session-id": session.id}).until_over()
        assert response.status == 200


@pytest.mark.requirement("transport.http.post.accepted")
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}},
        {"jsonrpc": "2.0", "method": "no/such"},
        {"jsonrpc": "2.0", "id": 77, "result": {}},
        {"jsonrpc": "2.0", "id": 77, "error": {"code": 1, "message": "late"}},
    ],
)
@pytest.mark.parametrize("revision", SHAKEN)
async def test_notifications_and_responses_are_accepted(revision: str, message: Any) -> None:
    async with serving() as client:
        session = await client.session(revision)
        response = await session.post(message).until_over()
        assert (response.status, response.body) == (202, b"")


@pytest.mark.requirement("transport.http.post.refused")
@pytest.mark.parametrize("revision", SHAKEN)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", error_codes.PARSE_ERROR),
        (b"\xff", error_codes.PARSE_ERROR),
        (b"7", error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","method":7}', error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","result":{}}', error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', error_codes.INVALID_REQUEST),
        (b"[]", error_codes.INVALID_REQUEST),
    ],
)
async def test_what_is_no_message_is_a_bad_request_in_every_revision(
    revision: str, body: bytes, code: int
) -> None:
    async with serving() as client:
        session = await client.session(revision)
        for response in (session.post(body), client.post(body)):
            await response.until_over()
            assert (response.status, response.error["code"]) == (400, code)
            assert "id" not in response.json


# ---- batches


def batch(*ids: int) -> list[dict[str, Any]]:
    return [{**PING, "id": id} for id in ids]


@pytest.mark.requirement("jsonrpc.batch.receive")
async def test_a_batch_of_the_one_revision_that_has_them_is_answered_by_a_batch() -> None:
    async with serving() as client:
        session = await client.session("2025-03-26")
        call = {"name": "echo", "arguments": {"text": "b"}}
        slow = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}
        note = {"jsonrpc": "2.0", "method": "notifications/x"}
        response = await session.post([*batch(1, 2), slow, note, {"id": 5}]).until_over()
        assert response.headers["content-type"] == "application/json"
        assert {each.get("id") for each in response.json} == {1, 2, 5, 9}
        assert (await session.post([note, note]).until_over()).status == 202
        answers = [{"jsonrpc": "2.0", "id": 77, "result": {}}]
        assert (await session.post(answers).until_over()).status == 202


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
async def test_a_batch_is_no_message_in_any_other(revision: str) -> None:
    async with serving() as client:
        session = await client.session(revision)
        response = await session.post(batch(1)).until_over()
        assert (response.status, response.error["code"]) == (400, error_codes.INVALID_REQUEST)


async def test_the_answers_to_a_batch_go_where_it_was_asked_though_its_last_one_is_cancelled() -> (
    None
):
    async with serving(stuck := Server("stuck", "1")) as client:

        @stuck.tool
        async def wait() -> None:
            await asyncio.Event().wait()

        session = await client.session("2025-03-26")
        call = {**PING, "id": 9, "method": "tools/call", "params": {"name": "wait"}}
        response = session.post([*batch(1), call])
        await until(
            lambda: (
                bool(dispatcher_of(stuck).connections) and session_of(client, session).running > 0
            )
        )
        cancellation = {"method": "notifications/cancelled", "params": {"requestId": 9}}
        cancelled = await session.post({"jsonrpc": "2.0", **cancellation}).until_over()
        assert (cancelled.status, cancelled.body) == (202, b"")
        await response.until_over()
        answers = response.messages[0] if response.is_stream else response.json
        assert [each["id"] for each in answers] == [1]


class _Seen:
    def __init__(self, app: Any, id: str) -> None:
        self.running = len(app.sessions[id].session.running)


def session_of(client: Any, session: Session) -> _Seen:
    return _Seen(client.app, session.id)


# ---- streams


@pytest.mark.requirement(
    "transport.http.stream.ends-after-response",
    "transport.http.stream.related.advised",
    "transport.http.stream.response-comes",
    "transport.http.streams.no-broadcast",
    "transport.http.streams.several",
)
@pytest.mark.parametrize("revision", SHAKEN)
async def test_what_a_handler_tells_goes_into_the_stream_of_its_request_alone(
    revision: str,
) -> None:
    async with serving() as client:
        session = await client.session(revision)
        stream = await session.get().until_begun()
        responses = [
            session.call("count", {"to": 3}, {"_meta": {"progressToken": n}}) for n in "ab"
        ]
        for number, (response, token) in enumerate(zip(responses, "ab", strict=True), 1):
            await response.until_over()
            assert response.is_stream
            *before, answer = response.messages
            assert answer["id"] == number
            reports = [each["params"] for each in before if "progress" in each["method"]]
            assert [each["progress"] for each in reports] == [1, 2, 3]
            assert {each["progressToken"] for each in reports} == {token}
        assert stream.messages == []


@pytest.mark.requirement(
    "transport.http.get.no-responses",
    "transport.http.get.open",
    "transport.http.get.stream-or-405",
    "transport.http.get.unrelated",
)
async def test_changes_come_on_the_one_stream_of_get() -> None:
    server = plain()
    async with serving(server) as client:
        session = await client.session()
        stream = await session.get().until_begun()
        assert stream.is_stream
        assert stream.headers["x-accel-buffering"] == "no"
        second = await session.get().until_over()
        assert second.status == 409
        server.remove_tool("count")
        await session.call("echo", {"text": "x"}).until_over()
        await stream.until(lambda stream: stream.messages)
        assert [each["method"] for each in stream.messages] == ["notifications/tools/list_changed"]
        await stream.drop()
        again = await session.get().until_begun()
        assert again.status == 200


async def test_changes_wait_for_a_stream_up_to_a_limit() -> None:
    server = plain(limits=Limits(unread_bytes=1000))
    async with serving(server) as client:
        session = await client.session()
        for _ in range(100):
            server.resource_updated("x://y")
            server.add_tool(_none, name="new")
            server.remove_tool("new")
        assert client.app.sessions[session.id].stream.is_behind
        stream = await session.get().until(lambda stream: len(stream.messages) > 10)
        assert 10 < len(stream.messages) < 25
        assert stream.messages[0]["method"] == "notifications/tools/list_changed"


async def _none() -> None: ...


@pytest.mark.requirement("transport.http.stream.break-is-no-cancel")
async def test_a_dropped_connection_cancels_nothing_and_a_message_does() -> None:
    server, seen, go = Server("slow", "1"), [], asyncio.Event()

    @server.tool
    async def slow(ctx: Context) -> str:
        try:
            await ctx.log("info", "begun")
            await go.wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        seen.append("done")
        return "done"

    async with serving(server) as client:
        session = await client.session()
        response = await session.call("slow").until(lambda response: response.messages)
        await response.drop()
        go.set()
        await until(lambda: seen == ["done"])
        go.clear()
        response = await session.call("slow").until(lambda response: response.messages)
        cancellation = {"method": "notifications/cancelled", "params": {"requestId": 2}}
        assert (await session.post({"jsonrpc": "2.0", **cancellation}).until_over()).status == 202
        await response.until_over()
        assert seen == ["done", "cancelled"]
        assert all("result" not in each for each in response.messages)


async def test_an_id_used_again_after_a_cancellation_keeps_the_stream_of_its_own_request() -> None:
    server = Server("s", "1")
    started, may_end, second = asyncio.Event(), asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    @server.tool
    async def stubborn() -> str:
        started.set()
        try:
            await elapse(60)
        except asyncio.CancelledError:
            await may_end.wait()
        ended.append("stubborn")
        return "of the first"

    @server.tool
    async def patient() -> str:
        await second.wait()
        return "of the second"

    async with serving(server) as client:
        session = await client.session()
        call = {**PING, "id": 9, "method": "tools/call"}
        first = session.post({**call, "params": {"name": "stubborn"}})
        await started.wait()
        cancellation = {"method": "notifications/cancelled", "params": {"requestId": 9}}
        assert (await session.post({"jsonrpc": "2.0", **cancellation}).until_over()).status == 202
        again = session.post({**call, "params": {"name": "patient"}})
        await until(lambda: session_of(client, session).running > 0)
        may_end.set()
        await until(lambda: bool(ended))
        await asyncio.sleep(0)
        second.set()
        await first.until_over()
        await again.until_over()
        assert b"of the first" not in first.body + again.body
        assert b"of the second" in again.body


ABLE: dict[str, Any] = {"sampling": {}, "elicitation": {}, "roots": {}}
ANSWERS: dict[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann"}},
    "roots/list": {"roots": [{"uri": "file:///tmp", "name": "tmp"}]},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "hello"},
        "model": "m",
    },
}


@pytest.mark.requirement("transport.http.stream.server-messages")
@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18"])
async def test_a_question_goes_on_the_stream_of_its_request_and_the_answer_comes_by_post(
    revision: str,
) -> None:
    server = Server("asks", "1")

    @server.tool
    async def ask(ctx: Context) -> str:
        form = {"type": "object", "properties": {"name": {"type": "string"}}}
        elicited = await ctx.elicit("who?", form)
        roots = await ctx.roots()
        sampled: Any = await ctx.sample("hi", max_tokens=5)
        assert elicited.content is not None
        return f"{elicited.content['name']} {roots[0].uri} {sampled.content.text}"

    async with serving(server) as client:
        session = await client.session(revision, capabilities=ABLE)
        stream = await session.get().until_begun()
        response = session.call("ask")
        for count, (method, result) in enumerate(ANSWERS.items(), 1):
            await response.until(lambda response, count=count: len(response.messages) == count)
            question = response.messages[-1]
            assert question["method"] == method
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": result}
            assert (await session.post(answer).until_over()).status == 202
        await response.until_over()
        said = response.messages[-1]["result"]["content"][0]["text"]
        assert said == "Ann file:///tmp hello"
        assert stream.messages == []


# ---- bounds


async def test_one_principal_leaves_room_for_the_sessions_of_others() -> None:
    limits = Limits(sessions=4, principal_sessions=2)

    async with serving(plain(limits=limits), principal=lambda scope: scope["user"]) as client:
        ann, nobody = {"user": "ann"}, {"user": ""}
        begun = await client.session(**ann)
        await begun.get().until_begun()
        old = await client.begin("GET", "/sse", GET, **ann).until_begun()
        for response in (
            client.post(initialize("2025-11-25"), **ann),
            client.begin("GET", "/sse", GET, **ann),
        ):
            await response.until_over()
            message = response.error["message"]
            assert (response.status, "Limits.principal_sessions" in message) == (429, True)
            assert int(response.headers["retry-after"]) > 0
        for _ in range(2):
            await (await client.session(**nobody)).get().until_begun()
        full = client.post(initialize("2025-11-25"), **nobody)
        assert (await full.until_over()).status == 503
        await begun.delete().until_over()
        await client.session(**ann)
        await old.drop()
        await client.session(**ann)


@pytest.mark.parametrize("limits", [Limits(principal_sessions=1), Limits(sessions=1)])
async def test_a_session_of_another_process_takes_the_place_of_an_idle_one(limits: Limits) -> None:
    store = MemoryStore()
    options: dict[str, Any] = {"principal": lambda scope: scope["user"], "store": store}

    async with (
        serving(plain(limits=limits), **options) as one,
        serving(plain(limits=limits), **options) as other,
    ):
        first, second = await one.session(user="ann"), await other.session(user="ann")
        for session in (first, second, first):
            there = Session(other, session.id, session.revision, {"user": "ann"})
            assert (await there.call("echo").until_over()).status == 200
            assert [*other.app.sessions] == [session.id]
        begun = other.post(initialize("2025-11-25"), user="ann")
        assert (await begun.until_over()).status == 200


async def test_a_principal_with_its_share_takes_no_place_of_a_session_of_others() -> None:
    store = MemoryStore()
    options: dict[str, Any] = {"principal": lambda scope: scope["user"], "store": store}
    limits = Limits(principal_sessions=1)

    async with (
        serving(plain(limits=limits), **options) as one,
        serving(plain(limits=limits), **options) as other,
    ):
        session, listens = await one.session(user="ann"), await other.session(user="ann")
        idle = await other.session(user="eve")
        await listens.get().until_begun()
        there = Session(other, session.id, session.revision, {"user": "ann"})
        assert (await there.call("echo").until_over()).status == 429
        assert {*other.app.sessions} == {listens.id, idle.id}


async def test_a_session_of_another_process_takes_no_place_of_one_that_listens() -> None:
    store = MemoryStore()
    options: dict[str, Any] = {"principal": lambda scope: scope["user"], "store": store}
    limits = Limits(principal_sessions=1)

    async with (
        serving(plain(limits=limits), **options) as one,
        serving(plain(limits=limits), **options) as other,
    ):
        session, listens = await one.session(user="ann"), await other.session(user="ann")
        stream = await listens.get().until_begun()
        there = Session(other, session.id, session.revision, {"user": "ann"})
        assert (await there.call("echo").until_over()).status == 429
        await stream.drop()
        assert (await there.call("echo").until_over()).status == 200


async def test_sessions_have_a_cap_also_with_those_of_http_with_sse() -> None:
    async with serving(plain(limits=Limits(sessions=3))) as client:
        sessions = [await client.session() for _ in range(2)]
        for session in sessions:
            await session.get().until_begun()
        old = await client.begin("GET", "/sse", GET).until_begun()
        for response in (
            client.post(initialize("2025-11-25")),
            client.begin("GET", "/sse", GET),
        ):
            await response.until_over()
            assert (response.status, "Limits.sessions" in response.error["message"]) == (
                503,
                True,
            )
            assert int(response.headers["retry-after"]) > 0
        assert (await client.call("echo").until_over()).status == 200
        await sessions[0].delete().until_over()
        await client.session()
        await old.drop()
        await client.session()


async def test_a_session_that_is_not_used_is_ended_and_one_with_a_stream_is_not() -> None:
    server, clock = plain(limits=Limits(session_idle=600.0)), Clock()
    async with serving(server) as client:
        idle, listens = await client.session(), await client.session()
        stream = await listens.get().until_begun()
        await clock.forward(700)
        await until(lambda: len(client.app.sessions) == 1)
        assert (await idle.request("ping").until_over()).status == 404
        await clock.forward(700)
        assert (await listens.request("ping").until_over()).status == 200
        await stream.drop()
        await clock.forward(700)
        await until(lambda: not client.app.sessions and not dispatcher_of(server).connections)


async def test_a_session_with_a_stream_is_kept_in_the_store_and_one_that_is_not_used_is_not() -> (
    None
):
    limits, clock = Limits(session_idle=600.0), Clock()
    store = MemoryStore(limits)
    store.sessions = MemorySessions(limits, clock=clock.time)
    async with serving(plain(limits=limits), store=store) as client:
        idle, listens = await client.session(), await client.session()
        stream = await listens.get().until_begun()
        for _ in range(6):
            await clock.forward(200)
        assert (await idle.request("ping").until_over()).status == 404
        assert (await listens.request("ping").until_over()).status == 200
        await stream.drop()


async def test_a_session_that_is_asked_is_not_idle() -> None:
    server, clock = plain(limits=Limits(session_idle=600.0)), Clock()
    begun, end = asyncio.Event(), asyncio.Event()

    @server.tool
    async def slow() -> str:
        begun.set()
        await end.wait()
        return "done"

    async with serving(server) as client:
        session = await client.session()
        response = session.call("slow")
        await begun.wait()
        await clock.forward(700)
        assert [*client.app.sessions] == [session.id]
        end.set()
        await response.until_over()
        assert response.messages[-1]["result"]["content"][0]["text"] == "done"


@pytest.mark.parametrize("version", [*SHAKEN, LATEST])
@pytest.mark.parametrize("path", ["/mcp", "/messages"])
async def test_a_body_has_a_limit_on_each_route_whether_its_length_is_told_or_not(
    version: str, path: str
) -> None:
    most = Limits().line_bytes
    assert most == 4 * 1024 * 1024
    async with serving(plain()) as client:
        stream = await client.begin("GET", "/sse", GET).until_events(1)
        query = stream.events[0].data.decode().partition("?")[2]
        session = await client.session()
        headers = {**POST, **session.headers, "mcp-protocol-version": version}
        announced = await client.ask(
            "POST",
            path,
            {**headers, "content-length": str(most + 1)},
            [],
            query=query,
        )
        huge = {**headers, "content-length": "9" * 5000}
        vast = await client.ask("POST", path, huge, [], query=query)
        part = b" " * 65_536
        response = client.begin("POST", path, headers, [part] * 200, ends=False, query=query)
        await response.until_over()
        for each in (announced, vast, response):
            assert each.status == 413
            assert "Limits.line_bytes" in each.error["message"]
        assert response.parts.qsize() == 0
        whole = client.begin("POST", path, headers, [part] * 64, query=query)
        assert (await whole.until_over()).status == 400


@pytest.mark.parametrize("path", ["/mcp", "/messages"])
@pytest.mark.parametrize("parts", [[], [b"{"], [b"{", b'"'], [b""]])
async def test_a_body_that_does_not_come_is_cut(path: str, parts: list[bytes]) -> None:
    async with serving(plain(limits=Limits(body_seconds=20))) as client:
        stream = await client.begin("GET", "/sse", GET).until_events(1)
        query = stream.events[0].data.decode().partition("?")[2]
        headers = {**POST, "transfer-encoding": "chunked"}
        response = client.begin("POST", path, headers, parts, ends=False, query=query)
        await response.until_over()
        assert (response.status, response.headers["connection"]) == (408, "close")
        assert "Limits.body_seconds" in response.error["message"]


async def test_a_body_that_comes_in_drops_is_cut_as_a_whole() -> None:
    async with serving(plain()) as client:
        response = client.begin("POST", "/mcp", POST, [b"{"], ends=False)
        while not response.task.done():
            response.parts.put_nowait({"type": "http.request", "body": b" ", "more_body": True})
            await elapse(1)
        assert (response.status, asyncio.get_running_loop().time()) == (408, 30)


async def test_a_client_that_is_gone_amid_its_body_leaves_nothing() -> None:
    async with serving() as client:
        response = client.begin("POST", "/mcp", POST, [b"{"], ends=False)
        await asyncio.sleep(0)
        response.disconnect()
        await response.until_over()
        assert (response.status, response.raw) == (0, [])


async def test_a_body_in_many_parts_is_one() -> None:
    async with serving() as client:
        session = await client.session()
        parts = [bytes([byte]) for byte in b'{"jsonrpc":"2.0","id":1,"method":"ping"}']
        headers = {**POST, **session.headers, "accept": BOTH}
        response = await client.ask("POST", "/mcp", headers, parts)
        assert response.json == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    ("headers", "closes"),
    [
        ({"content-length": "3"}, True),
        ({"transfer-encoding": "chunked"}, True),
        ({"content-length": "0"}, False),
        ({}, False),
    ],
)
async def test_who_is_refused_before_the_body_is_read_is_not_waited_for_long(
    headers: dict[str, str], closes: bool
) -> None:
    async with serving(plain(limits=Limits(body_seconds=20))) as client:
        for method, path, more in (
            ("POST", "/nowhere", {}),
            ("PUT", "/mcp", {}),
            ("POST", "/mcp", {"host": "evil.com"}),
            ("POST", "/mcp", {"content-type": "text/plain"}),
        ):
            response = await client.ask(method, path, {**POST, **headers, **more}, [])
            assert (response.headers.get("connection") == "close") is closes


@pytest.mark.parametrize(
    "body", [[7], [{}], ["x", None], [[[]]], [{"jsonrpc": "2.0", "method": 5}]]
)
async def test_a_batch_of_which_nothing_can_be_accepted_is_a_bad_request(body: list[Any]) -> None:
    """Source: 2025-03-26 basic/transports, "Sending Messages to the Server"."""

    async with serving() as client:
        session = await client.session("2025-03-26")
        response = await session.post(body).until_over()
        assert (response.status, response.error["code"]) == (400, error_codes.INVALID_REQUEST)
        mixed = await session.post([*body, PING]).until_over()
        assert mixed.status == 200
