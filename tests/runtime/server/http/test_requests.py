"""The per-request era over HTTP: each POST by itself, and its stream where the handler tells more.

Source: 2026-07-28 basic/transports/streamable-http.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.core.wire import error_codes
from mcp_runtime.errors import RpcError
from mcp_runtime.limits import Limits
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.server.http.asgi.request import HttpRequest
from tests.support.asgi_client import (
    GET,
    LATEST,
    POST,
    initialize,
    mirrors,
    plain,
    request,
    serving,
)
from tests.support.patience import until
from tests.support.virtual_time import elapse


@pytest.mark.requirement(
    "transport.http.endpoint.post",
    "transport.http.post.response-type",
    "transport.http.session.none",
    "versioning.discover.implemented",
    "versioning.discover.optional",
    "versioning.era.select-modern",
    "versioning.no-handshake",
)
async def test_a_request_by_itself_is_answered_in_json_and_without_a_session() -> None:
    async with serving() as client:
        response = await client.call("echo", {"text": "hello"}).until_over()
        assert response.status == 200
        assert response.headers["content-type"] == "application/json"
        assert "mcp-session-id" not in response.headers
        assert response.json["result"]["content"] == [{"type": "text", "text": "hello"}]
        response = await client.request("server/discover").until_over()
        assert LATEST in response.json["result"]["supportedVersions"]
        assert client.app.sessions == {}


@pytest.mark.requirement(
    "transport.http.stream.ends-after-response",
    "transport.http.stream.no-buffering",
    "transport.http.stream.no-requests",
    "transport.http.stream.not-resumable",
    "transport.http.stream.notifications",
    "transport.http.stream.related",
)
async def test_a_handler_that_tells_more_is_answered_by_a_stream() -> None:
    async with serving() as client:
        more = {"_meta": {"progressToken": "p", "io.modelcontextprotocol/logLevel": "info"}}
        response = client.call("count", {"to": 3}, more=more)
        other = client.call("count", {"to": 1}, more={"_meta": {"progressToken": "q"}})
        await response.until_over()
        await other.until_over()
        assert response.is_stream
        assert response.over
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["cache-control"] == "no-cache, no-transform"
        assert {event.id for event in response.events} == {""}
        *before, answer = response.messages
        assert answer["id"] == 1
        assert {each["method"] for each in before} == {
            "notifications/progress",
            "notifications/message",
        }
        tokens = [each["params"].get("progressToken", "p") for each in before]
        assert tokens == ["p"] * 6
        assert all("id" not in each for each in before)


@pytest.mark.requirement("errors.status.method-not-found")
async def test_an_unknown_method_has_a_status_of_its_own_in_this_era_only() -> None:
    async with serving() as client:
        response = await client.request("no/such").until_over()
        assert (response.status, response.error["code"]) == (404, error_codes.METHOD_NOT_FOUND)
        session = await client.session()
        response = await session.request("no/such").until_over()
        assert (response.status, response.error["code"]) == (200, error_codes.METHOD_NOT_FOUND)


@pytest.mark.requirement("errors.status.missing-client-capability")
async def test_a_capability_that_a_client_lacks_is_a_bad_request() -> None:
    server = plain()

    @server.tool
    async def ask(ctx: Context) -> str:
        await ctx.roots()
        return "asked"

    async with serving(server) as client:
        response = await client.call("ask").until_over()
        assert (response.status, response.error["code"]) == (
            400,
            error_codes.MISSING_CLIENT_CAPABILITY,
        )


async def test_an_error_of_a_handler_is_an_answer_like_any_other() -> None:
    server = plain()

    @server.tool
    async def refuse() -> str:
        raise RpcError(7, "no", {"error": {"code": error_codes.METHOD_NOT_FOUND}})

    @server.tool
    async def confuse() -> dict[str, Any]:
        return {"error": {"code": error_codes.METHOD_NOT_FOUND, "message": "x"}}

    async with serving(server) as client:
        response = await client.call("refuse").until_over()
        assert (response.status, response.error["code"]) == (200, 7)
        assert (await client.call("confuse").until_over()).status == 200
        response = await client.call("no such tool").until_over()
        assert (response.status, response.error["code"]) == (200, error_codes.INVALID_PARAMS)


@pytest.mark.requirement("transport.http.post.accepted")
@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/x", "x"])
async def test_a_notification_is_accepted(method: str) -> None:
    async with serving() as client:
        said = {"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}}
        response = await client.post(said, {"MCP-Protocol-Version": LATEST}).until_over()
        assert (response.status, response.body) == (202, b"")


@pytest.mark.requirement("transport.http.post.refused")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", error_codes.PARSE_ERROR),
        (b"{", error_codes.PARSE_ERROR),
        (b"\xff", error_codes.PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"x\xff"}', error_codes.PARSE_ERROR),
        (b"null", error_codes.INVALID_REQUEST),
        (b"[]", error_codes.INVALID_REQUEST),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}', error_codes.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', error_codes.INVALID_REQUEST),
        (b"[" * 100_000, error_codes.PARSE_ERROR),
    ],
)
async def test_what_is_no_request_or_notification_is_a_bad_one(body: bytes, code: int) -> None:
    async with serving() as client:
        response = await client.post(body, {"MCP-Protocol-Version": LATEST}).until_over()
        assert (response.status, response.error["code"]) == (400, code)
        assert response.headers["content-type"] == "application/json"


# ---- cancellation


@pytest.mark.requirement(
    "transport.http.cancel.by-closing",
    "transport.http.cancel.silence",
    "transport.http.cancel.stop",
)
@pytest.mark.parametrize("streams", [False, True])
async def test_closing_the_response_cancels_the_request(streams: bool) -> None:
    server, seen = Server("slow", "1"), []

    @server.tool
    async def slow(ctx: Context) -> str:
        seen.append("begun")
        try:
            if streams:
                await ctx.progress(1)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            await ctx.progress(2)
            raise
        return "never"

    async with serving(server) as client:
        response = client.call("slow", more={"_meta": {"progressToken": 1}})
        await until(lambda: bool(seen))
        if streams:
            await response.until_events(1)
        response.disconnect()
        await response.until_over()
        await until(lambda: len(seen) == 2)
        assert seen == ["begun", "cancelled"]
        assert len(response.events) == streams


async def test_what_a_handler_leaves_running_says_nothing_after_the_answer() -> None:
    server, left = Server("late", "1"), []

    @server.tool
    async def late(ctx: Context) -> str:
        async def say() -> None:
            await asyncio.sleep(0)
            await ctx.log("info", "late")

        await ctx.log("info", "early")
        left.append(asyncio.ensure_future(say()))
        return "done"

    async with serving(server) as client:
        meta = {"io.modelcontextprotocol/logLevel": "info"}
        response = await client.call("late", more={"_meta": meta}).until_over()
        await asyncio.gather(*left)
        assert [each.get("method", "answer") for each in response.messages] == [
            "notifications/message",
            "answer",
        ]


# ---- subscriptions


LISTEN: dict[str, Any] = {"notifications": {"toolsListChanged": True}}


@pytest.mark.requirement("transport.http.stream.keep-alive")
async def test_a_subscription_is_a_stream_kept_open_by_comments() -> None:
    server = plain(limits=Limits(keep_alive=0.02))
    async with serving(server) as client:
        response = await client.request("subscriptions/listen", LISTEN).until_events(1)
        assert response.messages[0]["method"] == "notifications/subscriptions/acknowledged"
        await response.until(lambda response: response.sent.count(b":\n\n") > 2)
        server.remove_tool("count")
        await response.until_events(2)
        assert response.messages[1]["method"] == "notifications/tools/list_changed"
        assert len(dispatcher_of(server).connections) == 1
        await response.drop()
        assert len(dispatcher_of(server).connections) == 0


async def test_a_slow_handler_is_answered_by_a_stream_kept_open_by_comments() -> None:
    server, go = plain(limits=Limits(keep_alive=0.02)), asyncio.Event()

    @server.tool
    async def slow() -> str:
        await go.wait()
        return "at last"

    async with serving(server) as client:
        session = await client.session()
        for response in (client.call("slow"), session.call("slow")):
            go.clear()
            await response.until(lambda response: response.sent.count(b":\n\n") > 2)
            go.set()
            await response.until_over()
            assert response.messages[-1]["result"]["content"][0]["text"] == "at last"


async def test_a_subscriber_that_does_not_read_is_told_no_more_than_a_limit() -> None:
    server = plain(limits=Limits(unread_bytes=1000))
    async with serving(server) as client:
        response = client.request("subscriptions/listen", LISTEN)
        await response.until_events(1)
        for number in range(1000):  # without a turn of the loop: nobody reads
            server.add_tool(_none, name=f"tool-{number}")
        await elapse(0.05)
        size = sum(len(event.data) for event in response.events[1:])
        assert 1000 < size < 1300
        server.remove_tool("count")
        count = len(response.events)
        await response.until_events(count + 1)


async def _none() -> None: ...


# ---- a server of this era only


async def test_a_subscriber_hears_that_the_last_tool_is_gone() -> None:
    server = plain()
    async with serving(server) as client:
        response = await client.request("subscriptions/listen", LISTEN).until_events(1)
        for count, name in enumerate(("echo", "count"), 2):
            server.remove_tool(name)
            await response.until_events(count)
            assert response.messages[-1]["method"] == "notifications/tools/list_changed"


@pytest.mark.requirement(
    "transport.http.compat.delete-405",
    "transport.http.compat.get-405",
    "transport.http.compat.last-event-id-ignored",
    "transport.http.compat.session-header-ignored",
)
async def test_a_server_of_this_era_alone_knows_post_alone() -> None:
    async with serving(plain(revisions=[LATEST])) as client:
        for method in ("GET", "DELETE", "PUT"):
            response = await client.ask(method, "/mcp", {**GET, "mcp-session-id": "x"})
            assert (response.status, response.headers["allow"]) == (405, "POST")
        assert (await client.ask("GET", "/sse", GET)).status == 404
        headers = {"mcp-session-id": "x", "last-event-id": "1.1"}
        response = await client.call("echo", {"text": "a"}, headers).until_over()
        assert response.status == 200
        assert "mcp-session-id" not in response.headers


@pytest.mark.requirement(
    "transport.http.version-header.absent-refused",
    "versioning.era.initialize-http",
    "versioning.era.initialize-refusal",
)
@pytest.mark.parametrize("said", [initialize("2025-11-25"), request("tools/list")])
async def test_a_server_of_this_era_alone_tells_its_versions_to_who_names_none(
    said: dict[str, Any],
) -> None:
    async with serving(plain(revisions=[LATEST])) as client:
        response = await client.post(said).until_over()
        assert (response.status, response.error["code"]) == (400, error_codes.HEADER_MISMATCH)
        assert response.error["data"] == {"supported": [LATEST]}
        assert response.json["id"] == said["id"]


# ---- the place


async def test_a_path_without_a_route_and_a_method_without_a_meaning_are_told_apart() -> None:
    async with serving(path="/here", sse=None) as client:
        for path in ("/mcp", "/", "/sse", "/messages", "/here/x", "//here"):
            response = await client.ask("POST", path, POST)
            assert (response.status, "id" in response.json) == (404, False)
        for method in ("PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "post"):
            response = await client.ask(method, "/here", POST)
            assert (response.status, response.headers["allow"]) == (405, "DELETE, GET, POST")


@pytest.mark.parametrize(
    ("root", "path", "status"),
    [
        ("", "/mcp", 200),
        ("/tools", "/tools/mcp", 200),
        ("/tools/", "/tools/mcp", 200),
        ("/tools", "/mcp", 200),
        ("/m", "/mcp", 200),
        ("/tools", "/toolsmcp", 404),
        ("/tools", "/tools/tools/mcp", 404),
    ],
)
async def test_the_path_counts_from_where_the_application_is_mounted(
    root: str, path: str, status: int
) -> None:
    async with serving() as client:
        said = request("server/discover")
        response = client.post(said, mirrors(said), path=path, root_path=root)
        assert (await response.until_over()).status == status


async def test_a_socket_of_another_kind_is_not_served() -> None:
    app = plain().asgi()
    with pytest.raises(NotImplementedError, match="websocket"):
        await app({"type": "websocket"}, _never, _never)


async def _never(*_: Any) -> Any:
    raise AssertionError


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_revision_without_these_methods_is_told_so(method: str) -> None:
    async with serving() as client:
        headers = {**GET, "mcp-protocol-version": LATEST}
        response = await client.ask(method, "/mcp", headers)
        assert (response.status, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(("path", "asked_at"), [("/mcp", "/mcp/"), ("/mcp/", "/mcp")])
async def test_a_slash_at_the_end_of_the_endpoint_makes_no_difference(
    path: str, asked_at: str
) -> None:
    async with serving(path=path) as client:
        response = await client.call("echo", path=asked_at).until_over()
        assert response.status == 200


# ---- limits


@pytest.mark.requirement("tools.security.rate-limit")
async def test_calls_without_a_session_have_a_rate_together() -> None:
    async with serving(plain(limits=Limits(call_rate=1))) as client:
        responses = [await client.call("echo").until_over() for _ in range(4)]
        assert ["error" in each.json for each in responses] == [False, True, True, True]


async def test_calls_without_a_session_have_a_rate_for_each_principal() -> None:
    limits = Limits(call_rate=1, sessions=2)

    async with serving(plain(limits=limits), principal=lambda scope: scope["user"]) as client:
        users = ("ann", "ann", "eve", "ann", "eve", "")
        responses = [await client.call("echo", user=user).until_over() for user in users]
        refused = ["error" in each.json for each in responses]
        assert refused == [False, True, False, True, True, False]
        assert [*client.app._per_request._rates] == ["eve", ""], "the oldest is forgotten"


async def test_requests_without_a_session_are_worked_on_up_to_a_limit() -> None:
    async with serving(plain(limits=Limits(sessions=2))) as client:
        responses = [client.request("subscriptions/listen", LISTEN) for _ in range(4)]
        for each in responses:
            await each.until_begun()
        assert [each.status for each in responses] == [200, 200, 503, 503]
        assert "Limits.sessions" in responses[2].error["message"]
        await responses[0].drop()
        assert (await client.call("echo").until_over()).status == 200


async def test_a_body_that_an_upgrade_has_cost_is_told() -> None:
    async with serving(plain()) as client:
        for headers, why in ({"upgrade": "h2c"}, "Upgrade"), ({}, "Parse error"):
            response = await client.post(b"", headers).until_over()
            assert (response.status, why in response.error["message"]) == (400, True)


async def test_one_principal_leaves_room_for_the_requests_of_others() -> None:
    limits = Limits(principal_sessions=2)

    async with serving(plain(limits=limits), principal=lambda scope: scope["user"]) as client:
        said = request("subscriptions/listen", LISTEN)
        responses = [client.post(said, mirrors(said), user="ann") for _ in range(3)]
        for each in responses:
            await each.until_begun()
        assert [each.status for each in responses] == [200, 200, 429]
        assert "Limits.principal_sessions" in responses[2].error["message"]
        for user, status in (("ann", 429), ("eve", 200), ("", 200)):
            assert (await client.call("echo", user=user).until_over()).status == status
        await responses[0].drop()
        assert (await client.call("echo", user="ann").until_over()).status == 200
        await responses[1].drop()
        assert not client.app._per_request._counts


async def test_the_log_messages_of_one_request_leave_room_for_those_of_another() -> None:
    meta = {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}
    async with serving(plain(limits=Limits(log_rate=3.0))) as client:
        for _ in range(3):
            response = await client.call("count", {"to": 3}, more=meta).until_over()
            logs = [m for m in response.messages if m.get("method") == "notifications/message"]
            assert [log["params"]["data"] for log in logs] == [0, 1, 2]


HEADERS: dict[str, tuple[list[tuple[bytes, bytes]], dict[str, str]]] = {
    "none": ([], {}),
    "each once": ([(b"a", b"1"), (b"b", b"\xe9")], {"a": "1", "b": "\xe9"}),
    "one twice": ([(b"a", b"1"), (b"b", b""), (b"a", b"2")], {"a": "1, 2", "b": ""}),
    "a line end in a value": ([(b"a", b"x\nb\ny"), (b"c", b"3")], {"a": "x\nb\ny", "c": "3"}),
    "a line end in a name": ([(b"a\nx", b"1"), (b"b", b"2")], {"a\nx": "1", "b": "2"}),
}


@pytest.mark.parametrize("case", HEADERS)
async def test_headers_are_read_as_they_came_and_repeated_ones_as_a_list(case: str) -> None:
    sent, read = HEADERS[case]

    async def nothing(message: Any = None) -> Any: ...

    scope = {"method": "POST", "path": "/", "headers": sent}
    assert HttpRequest(scope, nothing, nothing).headers == read
