"""What is a message, and what answers one that is none."""

from __future__ import annotations

import json
from asyncio import create_task, wait_for
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.errors import BadAnswer, RemoteError, RpcError, TimedOut
from mcp_runtime.limits import Limits
from tests.support.json_peers import (
    ALL,
    HANDSHAKE,
    NEWEST,
    RawServer,
    connected,
    since,
    until,
    with_page,
)

each = pytest.mark.parametrize("revision", ALL)


def small() -> Server:
    server = Server("small", "1")

    @server.tool
    async def add(a: int, b: int, ctx: Context) -> int:
        await ctx.progress(1, 2)
        return a + b

    @server.tool
    async def odd() -> None:
        raise RpcError(7, "an application's own", {"a": 1})

    @server.tool
    async def where(ctx: Context) -> int:
        return len(await ctx.roots())

    return server


def is_message(o: Any) -> bool:
    """Whether JSON-RPC 2.0 and the protocol's page take it for a message, rule by rule."""
    assert isinstance(o, dict)
    assert o.pop("jsonrpc") == "2.0"
    id = o.pop("id", "none")
    assert isinstance(id, str | int)
    assert not isinstance(id, bool)
    match o:
        case {"method": str(), **rest}:
            assert rest.keys() <= {"params"}
            assert isinstance(rest.get("params", {}), dict)
        case {"result": result, **rest}:
            assert isinstance(result, dict)
            assert not rest
        case {"error": error, **rest}:
            assert not rest
            assert error.keys() <= {"code", "message", "data"}
            assert type(error["code"]) is int
            assert isinstance(error["message"], str)
        case _:
            return False
    return True


@pytest.mark.requirement("jsonrpc.conform")
@pytest.mark.requirement("jsonrpc.utf8")
@pytest.mark.requirement("jsonrpc.error.code-and-message")
@pytest.mark.requirement("jsonrpc.error.code-integer")
@pytest.mark.requirement("transport.stdio.no-inner-newline")
@each
async def test_all_that_a_server_writes_are_messages_of_one_line(revision: str) -> None:
    async with connected(small(), revision, {"roots": {}}) as client:
        await client.ask("tools/list")
        await client.tool("add", {"a": 1, "b": 2}, meta={"progressToken": "ü\n\r\u2028"})
        await client.error("tools/call", {"name": "odd"})
        await client.error("tools/call", {"name": "näme\n\r\u2028\u0000"})
        await client.error("no/such")
        client.write(b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"method":5}')
        if not client.is_modern:
            id = client.call("tools/call", {"name": "where"})
            client.answer((await client.next("roots/list"))["id"], {"roots": []})
            await client.response(id)
        await client.quiet()
        for line in client.raw:
            message = json.loads(line.decode("utf-8"))
            if message.get("error", {}).get("code") in (-32700, -32600):
                message = {"id": 0} | message
            assert is_message(message)


@pytest.mark.requirement("jsonrpc.conform")
@pytest.mark.requirement("jsonrpc.request.id-type")
@pytest.mark.requirement("jsonrpc.request.id-not-null")
@pytest.mark.requirement("jsonrpc.notification.no-id")
@pytest.mark.requirement("transport.stdio.no-inner-newline")
@each
async def test_all_that_a_client_writes_are_messages_of_one_line(revision: str) -> None:
    server = RawServer(
        revision,
        answers={
            "tools/list": with_page({"tools": []}, revision),
            "tools/call": with_page({"content": []}, revision),
        },
    )
    async with server.client(timeout=0.3, roots=[]) as client:
        await client.list_tools()
        await client.call_tool("a\nb\r\u2028c", {"ü\n": ["\n"]}, on_progress=print)
        with pytest.raises(TimedOut):
            await client.list_prompts()
        if revision in HANDSHAKE:
            await client.roots_changed()
            await server.line.request("roots/list")
            await server.line.request("no/such")
        await server.line.quiet()
    for line in server.line.raw:
        message = json.loads(line.decode("utf-8"))
        if message.get("method", "").startswith("notifications/"):
            assert "id" not in message
        elif "method" in message:
            assert type(message["id"]) in (str, int)
        assert is_message(message)


@pytest.mark.requirement("jsonrpc.response.same-id")
@pytest.mark.requirement("jsonrpc.result.same-id")
@pytest.mark.requirement("jsonrpc.result.member")
@pytest.mark.requirement("jsonrpc.response.one-of")
@pytest.mark.requirement("jsonrpc.response.not-both")
@pytest.mark.requirement("jsonrpc.error.same-id-if-readable")
@pytest.mark.parametrize("id", [1, "1", 0, "", -1, 2**53, "ü", 7, "x" * 300])
@each
async def test_an_answer_has_the_id_of_its_request_and_a_result_or_an_error(
    revision: str, id: Any
) -> None:
    async with connected(small(), revision) as client:
        call = {"name": "add", "arguments": {"a": 1, "b": 2}}
        assert await client.result("tools/call", call, id=id)
        assert await client.error("no/such", id=id)
        assert await client.error("tools/call", {"name": 5}, id=id)


@pytest.mark.requirement("jsonrpc.response.same-id")
@pytest.mark.requirement("jsonrpc.response.one-of")
@pytest.mark.requirement("jsonrpc.response.not-both")
@pytest.mark.parametrize("id", [1, "1", 0, "", 2**53])
@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_a_client_answers_with_the_id_of_the_request(revision: str, id: Any) -> None:
    server = RawServer(revision)
    async with server.client(roots=[]):
        answer = await server.line.request("roots/list", id=id)
        assert answer.keys() == {"jsonrpc", "id", "result"}
        answer = await server.line.request("no/such", id=id)
        assert answer.keys() == {"jsonrpc", "id", "error"}


@pytest.mark.requirement("jsonrpc.error.same-id-if-readable")
@pytest.mark.parametrize("revision", since("2025-11-25"))
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":"k","method":5}',
        b'{"jsonrpc":"1.0","id":"k","method":"ping"}',
        b'{"id":"k","method":"ping"}',
        b'{"jsonrpc":"2.0","id":"k"}',
        b'{"jsonrpc":"2.0","id":"k","method":"ping","method":"ping"}',
    ],
)
async def test_an_error_repeats_an_id_that_could_be_read(revision: str, line: bytes) -> None:
    async with connected(small(), revision) as client:
        client.write(line)
        assert (await client.response("k"))["error"]["code"] == -32600


@pytest.mark.requirement("jsonrpc.request.id-type")
@pytest.mark.requirement("jsonrpc.request.id-not-null")
@pytest.mark.parametrize("id", [None, 1.5, True, [], {}])
@each
async def test_a_request_with_another_kind_of_id_is_not_served(revision: str, id: Any) -> None:
    called: list[str] = []
    server = Server("s", "1")

    @server.tool
    async def run() -> None:
        called.append("run")

    async with connected(server, revision) as client:
        params = client.params({"name": "run"})
        client.send({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        for message in await client.quiet():
            assert message["error"]["code"] == -32600
            assert "id" not in message
        assert called == []
        await client.tool("run")
        assert called == ["run"]


@pytest.mark.requirement("jsonrpc.notification.no-response")
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("notifications/initialized", None),
        ("notifications/cancelled", {"requestId": 77}),
        ("notifications/cancelled", {"requestId": []}),
        ("notifications/cancelled", None),
        ("notifications/progress", {"progressToken": 1, "progress": "x"}),
        ("notifications/roots/list_changed", None),
        ("notifications/no/such", {"a": 1}),
        ("tools/call", {"name": "add"}),
        ("no/such", None),
    ],
)
@each
async def test_nobody_answers_a_notification(
    revision: str, method: str, params: dict[str, Any] | None
) -> None:
    async with connected(small(), revision) as client:
        client.notify(method, params)
        assert await client.quiet() == []
    server = RawServer(revision)
    async with server.client():
        await server.line.quiet()
        server.line.got.clear()
        server.line.notify(method, params)
        assert await server.line.quiet() == []


@pytest.mark.requirement("jsonrpc.request.id-unique-in-session")
@pytest.mark.requirement("jsonrpc.request.id-unique-in-flight")
@each
async def test_no_id_is_used_twice(revision: str) -> None:
    server = RawServer(
        revision,
        answers={
            "tools/list": with_page({"tools": []}, revision),
            "tools/call": with_page({"content": []}, revision),
        },
    )
    async with server.client() as client:
        for _ in range(20):
            await client.list_tools()
            await client.call_tool("x")
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await wait_for(client.list_prompts(), 0.02)
    ids = [m["id"] for m in server.asked if "id" in m]
    assert len(set(ids)) == len(ids) > 43


@pytest.mark.requirement("jsonrpc.request.id-unique-in-session")
@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_no_id_of_a_server_is_used_twice(revision: str) -> None:
    ids: list[Any] = []
    async with connected(small(), revision, {"roots": {}}) as client:
        for _ in range(5):
            id = client.call("tools/call", {"name": "where"})
            asked = await client.next("roots/list")
            ids.append(asked["id"])
            client.answer(asked["id"], {"roots": []})
            await client.response(id)
    assert len(set(ids)) == len(ids) == 5


@pytest.mark.requirement("jsonrpc.batch.receive")
async def test_a_batch_is_read_and_its_members_are_processed() -> None:
    async with connected(small(), "2025-03-26") as client:
        add = {"name": "add", "arguments": {"a": 1, "b": 2}}
        client.send(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": add},
                {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
                {"jsonrpc": "2.0", "id": "two", "method": "no/such"},
                {"jsonrpc": "2.0", "id": 3, "method": "ping"},
            ]
        )
        answers = await client.next(lambda m: isinstance(m, list))
        assert {answer["id"]: "result" in answer for answer in answers} == {
            1: True,
            "two": False,
            3: True,
        }
    server = RawServer("2025-03-26")
    async with server.client(roots=[]):
        server.line.send(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                {"jsonrpc": "2.0", "id": 2, "method": "roots/list"},
            ]
        )
        answers = await server.line.next(lambda m: isinstance(m, list))
        assert {answer["id"] for answer in answers} == {1, 2}


@pytest.mark.requirement("jsonrpc.utf8")
@pytest.mark.parametrize("revision", since("2025-03-26"))
async def test_bytes_that_are_not_utf_8_are_no_message(revision: str) -> None:
    async with connected(small(), revision) as client:
        client.write(b'{"jsonrpc":"2.0","id":900,"method":"\xff\xfe"}')
        for message in await client.quiet():
            assert message["error"]["code"] in (-32700, -32600)
        assert await client.result("tools/list")


@pytest.mark.requirement("jsonrpc.response.one-of")
@pytest.mark.requirement("jsonrpc.response.not-both")
@pytest.mark.requirement("jsonrpc.result.member")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"result": {}, "error": {"code": 1, "message": "m"}},
        {"error": {"code": 1}},
        {"result": 3},
    ],
)
@each
async def test_a_client_takes_no_answer_that_is_none(revision: str, body: dict[str, Any]) -> None:
    server = RawServer(revision)
    async with server.client(timeout=0.05) as client:
        listing = create_task(client.list_tools())
        asked = await server.line.next("tools/list")
        server.line.send({"jsonrpc": "2.0", "id": asked["id"]} | body)
        with pytest.raises((TimedOut, BadAnswer)):
            await listing


@pytest.mark.requirement("jsonrpc.error.message-short")
@pytest.mark.requirement("errors.message.concise")
@each
async def test_the_message_of_an_error_is_one_short_line(revision: str) -> None:
    long = "x" * 5000
    async with connected(small(), revision) as client:
        errors = [
            await client.error(long),
            await client.error("tools/call", {"name": long}),
            await client.error("tools/call", {"name": [long]}),
            await client.error("tools/call", {"name": "add", "arguments": long}),
            await client.error("tools/list", {"cursor": long}),
            await client.error("odd/one", {"a": long}),
        ]
        client.write(b'{"jsonrpc":"2.0","id":"m","method":5,"x":"%b"}' % long.encode())
        errors.append((await client.response("m"))["error"])
    for error in errors:
        assert len(error["message"]) <= 300
        assert "\n" not in error["message"]
        assert error["message"].strip()


# ---- codes


def refusing(code: int) -> Server:
    server = Server("s", "1")

    @server.tool
    async def run() -> None:
        raise RpcError(code, "m")

    return server


@pytest.mark.requirement("errors.range.reserved.undefined")
@pytest.mark.requirement("errors.range.legacy.no-new")
@pytest.mark.requirement("errors.range.legacy.avoid")
@pytest.mark.requirement("errors.retired.resource-not-found")
@pytest.mark.requirement("errors.retired.url-elicitation")
@pytest.mark.parametrize("code", [-32000, -32001, -32002, -32019, -32023, -32042, -32099, -32500])
async def test_no_handler_sends_a_code_that_the_protocol_keeps_to_itself(code: int) -> None:
    async with connected(refusing(code), NEWEST) as client:
        assert (await client.error("tools/call", {"name": "run"}))["code"] == -32603


@pytest.mark.requirement("errors.range.application")
@pytest.mark.parametrize("code", [1, -1, -31999, -32769, 2**31])
@each
async def test_a_handler_sends_codes_of_its_own(revision: str, code: int) -> None:
    async with connected(refusing(code), revision) as client:
        assert (await client.error("tools/call", {"name": "run"}))["code"] == code


@pytest.mark.requirement("errors.range.legacy.no-meaning")
@pytest.mark.parametrize("code", [-32000, -32001, -32003, -32010, -32019])
async def test_a_client_reads_no_meaning_into_a_code_of_old(code: int) -> None:
    server = RawServer(NEWEST)
    async with server.client() as client:
        reading = create_task(client.read_resource("a://b"))
        asked = await server.line.next("resources/read")
        server.line.refuse(asked["id"], code, "said", a=1)
        with pytest.raises(RemoteError, match="said") as refused:
            await reading
        assert type(refused.value) is RemoteError
        assert (refused.value.code, refused.value.data) == (code, {"a": 1})


@pytest.mark.requirement("errors.range.reserved.meaning")
async def test_defined_codes_are_sent_for_what_they_mean_only() -> None:
    server = small()
    async with connected(server, NEWEST) as client:
        wrong = {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
        codes = {
            "version": (await client.error("tools/list", meta=wrong))["code"],
            "capability": (await client.error("tools/call", {"name": "where"}))["code"],
            "method": (await client.error("no/such"))["code"],
            "params": (await client.error("tools/call", {}))["code"],
            "tool": (await client.error("tools/call", {"name": "none"}))["code"],
            "cursor": (await client.error("tools/list", {"cursor": "?"}))["code"],
            "resource": (await client.error("resources/read", {"uri": "a://b"}))["code"],
        }
    assert codes == {
        "version": -32022,
        "capability": -32021,
        "method": -32601,
        "params": -32602,
        "tool": -32602,
        "cursor": -32602,
        "resource": -32601,
    }


@pytest.mark.parametrize("revision", until("2025-11-25"))
async def test_a_server_that_is_busy_says_so(revision: str) -> None:
    server = Server("s", "1", limits=Limits(in_flight=0))
    server.tool(_nothing)
    async with connected(server, revision) as client:
        assert (await client.error("tools/list"))["code"] == -32000


@pytest.mark.requirement("errors.range.legacy.avoid")
@pytest.mark.requirement("errors.range.legacy.no-new")
async def test_a_server_of_the_newest_revision_has_no_code_of_its_own_for_busy() -> None:
    server = Server("s", "1", limits=Limits(in_flight=0))
    server.tool(_nothing)
    async with connected(server, NEWEST) as client:
        error = await client.error("tools/list")
        assert error["code"] == -32603
        assert "busy" in error["message"]


async def _nothing() -> None:
    """Does nothing."""
