"""Messages over a client's limit: which call fails, when, and that the session goes on."""

from __future__ import annotations

import asyncio
import json
import time
from io import BytesIO
from typing import Any, Final

import pytest

from mcp_runtime import Client, Limits
from mcp_runtime.core.session.events import Failed
from mcp_runtime.core.wire import peek
from mcp_runtime.core.wire.lines import ENDS_BYTES
from mcp_runtime.errors import TooMuch
from mcp_runtime.limits import DEFAULT
from mcp_runtime.revisions import UNSET
from mcp_runtime.trace import TraceFile
from tests.runtime.client.http.test_eras import Old
from tests.support.json_peers import HANDSHAKE, RawServer
from tests.support.raw_http_server import Asked, Reply, answer
from tests.support.session_pair import client_session
from tests.support.virtual_time import now

SHAKEN: Final = HANDSHAKE[-1]
SMALL: Final = Limits(answer_bytes=2000)
SOON: Final = 5.0
LARGE: Final = {"content": [{"type": "text", "text": "x" * 10_000}]}


def large(id: Any, order: str) -> bytes:
    """An answer over the limit; `order` has its members."""
    members = {"jsonrpc": "2.0", "id": id, "result": LARGE}
    return json.dumps({name: members[name] for name in order.split()}).encode()


ORDERS: Final = ["jsonrpc id result", "id jsonrpc result", "result jsonrpc id", "jsonrpc result id"]


@pytest.mark.parametrize("order", ORDERS)
async def test_an_answer_over_the_limit_fails_its_call_at_once(order: str) -> None:
    server = RawServer(SHAKEN)
    async with server.client(limits=Limits(answer_bytes=2000)) as client:
        calls = [asyncio.create_task(client.call_tool(name)) for name in ("a", "b")]
        first, second = [(await server.line.next("tools/call"))["id"] for _ in calls]
        started = now()
        server.line.wire.write(large(first, order) + b"\n")
        with pytest.raises(TooMuch, match=r"more than 2000 bytes \(Limits.answer_bytes\)"):
            await calls[0]
        assert now() - started < SOON
        server.line.answer(second, {"content": []})
        assert (await calls[1]).content == []


async def test_the_call_fails_before_the_answer_has_ended() -> None:
    server = RawServer(SHAKEN)
    async with server.client(limits=SMALL) as client:
        call = asyncio.create_task(client.call_tool("t"))
        id = (await server.line.next("tools/call"))["id"]
        server.line.wire.write(large(id, ORDERS[0])[:5000])
        with pytest.raises(TooMuch):
            await asyncio.wait_for(call, SOON)


UNKNOWN: Final = (b'[{"jsonrpc":"2.0","id":1,"result":"%b"}]', b'{"a":[],"b":"%b"}')
NO_ANSWERS: Final = (
    "INFO " + "x" * 10_000,
    json.dumps({"jsonrpc": "2.0", "method": "m", "params": LARGE}),
)


@pytest.mark.parametrize("whole", UNKNOWN)
async def test_all_calls_fail_where_it_cannot_be_found_which(whole: bytes) -> None:
    server = RawServer(SHAKEN)
    async with server.client(limits=SMALL) as client:
        calls = [asyncio.create_task(client.call_tool(name)) for name in ("a", "b")]
        for _ in calls:
            await server.line.next("tools/call")
        server.line.wire.write(whole % (b"x" * 10_000) + b"\n")
        for call in calls:
            with pytest.raises(TooMuch):
                await asyncio.wait_for(call, SOON)
        server.answers["tools/list"] = {"tools": []}
        assert await client.list_tools() == []


@pytest.mark.parametrize("line", NO_ANSWERS, ids=["log", "notification"])
async def test_a_long_line_that_is_no_answer_fails_nothing(line: str) -> None:
    server = RawServer(SHAKEN)
    async with server.client(limits=SMALL) as client:
        call = asyncio.create_task(client.call_tool("t"))
        id = (await server.line.next("tools/call"))["id"]
        server.line.wire.write(line.encode() + b"\n")
        server.line.answer(id, {"content": []})
        assert (await call).content == []


async def test_what_was_too_long_is_in_the_trace() -> None:
    file = BytesIO()
    server = RawServer(SHAKEN)
    async with server.client(limits=SMALL, trace=TraceFile(file)) as client:
        call = asyncio.create_task(client.call_tool("t"))
        id = (await server.line.next("tools/call"))["id"]
        server.line.wire.write(large(id, ORDERS[0]) + b"\n")
        with pytest.raises(TooMuch):
            await call
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    (dropped,) = [line["text"] for line in lines if line["direction"] == "dropped"]
    assert dropped.startswith('{"jsonrpc": "2.0", "id": ')
    assert len(dropped) <= ENDS_BYTES


async def test_an_answer_to_the_handshake_that_is_too_long_is_said() -> None:
    server = RawServer(SHAKEN, answers={"initialize": {"instructions": "x" * 10_000}})
    with pytest.raises(TooMuch):
        async with server.client(limits=SMALL):
            pass


async def test_over_http_and_sse_the_call_fails_and_the_stream_goes_on() -> None:
    server = Old()
    accepts = server.acts["tools/call"]

    async def too_large(asked: Asked, reply: Reply) -> None:
        await reply.send(202)
        assert server.stream is not None
        await server.stream.event(answer(asked, LARGE))

    async with server.running(), server.client(limits=SMALL) as client:
        server.acts["tools/call"] = too_large
        with pytest.raises(TooMuch):
            await asyncio.wait_for(client.call_tool("t"), SOON)
        server.acts["tools/call"] = accepts
        assert (await client.call_tool("t")).content == []
    assert server.opened == 1


async def test_the_limit_is_an_option_of_the_client() -> None:
    assert DEFAULT.answer_bytes == 16 * 1024 * 1024
    server = RawServer(SHAKEN, answers={"tools/call": LARGE})
    async with Client(server, revisions=[SHAKEN], message_bytes=20_000) as client:
        await client.call_tool("t")
    async with Client(server, revisions=[SHAKEN], message_bytes=9_000) as client:
        with pytest.raises(TooMuch):
            await client.call_tool("t")


# ---- the id, found in what is there of a message

CASES: Final[list[tuple[bytes, bytes | None, Any]]] = [
    (b'{"jsonrpc":"2.0","id":7,"result":{', None, 7),
    (b' { "id" : "a\\"b" , "result" : [', None, 'a"b'),
    (b'{"id":-1,"error":{', None, -1),
    (b'{"result":{"id":5', None, None),
    (b'{"result":{"id":5', b'"id":5}}', None),
    (b'{"result":{"id":5', b'"x"},"jsonrpc":"2.0","id":7} \r', 7),
    (b'{"result":{', b'}, "id" : "s" }', "s"),
    (b'{"result":{"t":"', b'\\"id\\":5}"}}', None),
    (b'{"result":{', b'},"id":7.5}', None),
    (b'{"result":{', b'},"id":null}', None),
    (b'{"method":"m","params":{', None, peek.ANOTHER),
    (b'{"id":1,"method":"m","params":{', None, peek.ANOTHER),
    (b'[{"id":1,"result":{', b"}}]", None),
    (b"", None, peek.ANOTHER),
    (b"Loading ...", b'"id":7}', peek.ANOTHER),
    (b'{"id":' + b"1" * 5000, None, None),
    (b'{"id":"' + b"x" * 5000, None, None),
]


@pytest.mark.parametrize(("head", "tail", "id"), CASES)
def test_the_id_is_found_without_the_whole(head: bytes, tail: bytes | None, id: Any) -> None:
    assert peek.response_id(head, tail) == id


HOSTILE: Final = (
    b'{"a',
    b'{"a":"' + b"\\" * 4000,
    b'{"a":1,' + b'"a":1,' * 600,
    b"{" * 4096,
    b'{"id":' * 600,
)


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(5))
def test_the_id_is_looked_for_in_linear_time(hostile: bytes) -> None:
    started = time.process_time()
    for _ in range(50):
        peek.response_id(hostile, hostile)
    assert time.process_time() - started < 1


def test_an_answer_that_is_too_long_fails_once() -> None:
    session = client_session(SHAKEN, SMALL)
    sent, _ = session.call("tools/list", UNSET, now=0.0)
    events = [*session.receive(large(sent.id, ORDERS[0]) + b"\n", 0.0)]
    assert [type(event) for event in events] == [Failed]
    assert len(session.pending) == 0
