"""Between sides of one revision a bridge carries params and results as the bytes they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Limits, Server
from mcp_runtime.bridge import Access, Bridge, Crossing, Names, Upstream
from mcp_runtime.errors import RemoteError, RpcError
from mcp_runtime.revisions import UNSET
from mcp_runtime.revisions import latest as t
from mcp_runtime.transports.memory import pair
from tests.support.virtual_time import elapse

NAME: Final = {"name": "client", "version": "1"}
ERAS: Final = ("2025-11-25", "2026-07-28")
RESULT: Final = b'{ "x-more":1.50,"content":[{"text":"\\u00fc","type":"text"}] '
"""The beginning of a result as no encoder of ours writes it."""


class Raw:
    """A server that answers a method on its wire by a function of the parsed request."""

    def __init__(
        self, revision: str, answer: Callable[[Any], bytes], method: str = "tools/call"
    ) -> None:
        self.server = Server("raw", "1", revisions=[revision])
        self.server.tool(name="add")(lambda: 1)
        self.answer, self.method = answer, method
        self.asked: list[bytes] = []

    def running(self) -> Any:
        return self.server.running()

    def accept(self, wire: Any) -> Any:
        self._wire = wire
        return self.server.accept(_Wire(wire, self))

    def write(self, message: dict[str, Any]) -> None:
        """Send a message on the newest wire."""
        self._wire.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


class _Wire:
    """Gives requests of the method to the function, and all else to the server."""

    def __init__(self, wire: Any, raw: Raw) -> None:
        self._wire, self._raw = wire, raw
        self.drain, self.close, self.write = wire.drain, wire.close, wire.write

    @property
    def waiting(self) -> int:
        return int(self._wire.waiting)

    def start(self, receiver: Any) -> None:
        self._receiver = receiver
        self._wire.start(self)

    def received(self, chunk: bytes) -> None:
        for line in chunk.splitlines(keepends=True):
            message = json.loads(line)
            if message.get("method") != self._raw.method:
                self._receiver.received(line)
                continue
            self._raw.asked.append(line[line.index(b'"params":') + 9 : -2])
            answer = self._raw.answer(message)
            if answer:
                self._wire.write(answer + b"\n")

    def ended(self) -> None:
        self._receiver.ended()


class Lines:
    """Collects the messages a wire receives, as parsed JSON."""

    def __init__(self, got: list[Any]) -> None:
        self._got = got

    def received(self, chunk: bytes) -> None:
        self._got.extend(map(json.loads, chunk.splitlines()))

    def ended(self) -> None: ...


def answered(message: Any) -> bytes:
    rest = b"" if "_meta" not in message["params"] else b',"resultType":"complete"'
    return b'{"jsonrpc":"2.0","id":%d,"result":%b%b}}' % (message["id"], RESULT, rest)


@pytest.mark.parametrize("revision", ERAS)
async def test_params_and_results_are_the_same_bytes_on_both_sides(revision: str) -> None:
    raw, seen = Raw(revision, answered), list[Crossing]()
    bridge = Bridge(raw, revisions=[revision], observe=seen.append)
    sent, received = list[bytes](), list[bytes]()
    trace = {"sent": sent.append, "received": received.append}
    async with Client(bridge.server, trace=lambda way, data: trace[way](data)) as client:
        for _ in range(2):  # the first one opens the connection to the server
            await client.call_tool("add", {"a": 2.50, "b": [{}]})
        calls = [line for line in sent if b"tools/call" in line]
        assert [line[line.index(b'"params":') + 9 : -1] for line in calls] == raw.asked
        assert [RESULT in line for line in received[-2:]] == [True, True]
    assert [(each.name, each.server, each.losses) for each in seen] == [("add", revision, ())] * 2


async def test_an_answer_that_its_revision_does_not_have_is_refused_or_repaired() -> None:
    answers = iter([b'{"content":1}', b'{"content":[],"isError":null}', b'{"content":[]}'])
    raw = Raw(
        "2025-11-25", lambda m: b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (m["id"], next(answers))
    )
    bridge, received = Bridge(raw, revisions=["2025-11-25"]), list[bytes]()
    async with Client(bridge.server, trace=lambda _, data: received.append(data)) as client:
        with pytest.raises(RemoteError, match="its answer is not what its revision says"):
            await client.call_tool("add")
        assert (await client.call_tool("add")).is_error is UNSET
        assert received[-1].endswith(b'"result":{"content":[]}}')  # without the null
        await client.call_tool("add")


@pytest.mark.parametrize("revision", ERAS)
async def test_progress_cancellation_and_errors_cross_with_a_call_that_is_carried(
    revision: str,
) -> None:
    server, cancelled = Server("upstream", "1", revisions=[revision]), asyncio.Event()

    @server.tool
    async def count(to: int, ctx: Context) -> int:
        for step in range(1, to + 1):
            await ctx.progress(step, to, f"{step}")
        return to

    @server.tool
    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    @server.prompt
    async def fail() -> str:
        raise RpcError(-32602, "no luck", {"why": [1, 2.5]})

    seen = list[Crossing]()
    bridge = Bridge(server, revisions=[revision], observe=seen.append)
    async with Client(bridge.server) as client:
        steps = list[Any]()

        def note(*step: Any) -> None:
            steps.append(step)

        await client.call_tool("count", {"to": 1})
        called = [client.call_tool("count", {"to": 3}, on_progress=note) for _ in range(2)]
        await asyncio.gather(*called)
        assert sorted(steps) == sorted([(n, 3, f"{n}") for n in (1, 2, 3)] * 2)
        waiting = asyncio.create_task(client.call_tool("wait"))
        await elapse(0.1)
        waiting.cancel()
        await cancelled.wait()
        with pytest.raises(RemoteError) as failed:
            await client.get_prompt("fail")
        assert (failed.value.code, failed.value.data) == (-32602, {"why": [1, 2.5]})
    assert [each.error for each in seen] == [None, None, None, None, -32602]


async def test_a_progress_token_of_two_calls_is_replaced_for_the_server() -> None:
    raw, got = Raw("2025-11-25", lambda message: b""), list[Any]()
    bridge = Bridge(raw, revisions=["2025-11-25"])
    ours, theirs = pair()
    async with bridge.server.running():
        ours.start(Lines(got))
        served = bridge.server.accept(theirs)
        call = {"name": "add", "_meta": {"progressToken": "t"}}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": NAME}
        messages: tuple[dict[str, Any], ...] = (
            {"id": 0, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            *({"id": id, "method": "tools/call", "params": call} for id in (1, 2)),
        )
        for message in messages:
            ours.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await elapse(0.1)
        tokens = [json.loads(asked)["_meta"]["progressToken"] for asked in raw.asked]
        assert tokens == ["t", 1]
        for token in (1, "t"):
            params = {"progressToken": token, "progress": 1, "message": f"of {token}"}
            raw.write({"method": "notifications/progress", "params": params})
        await elapse(0.1)
        notices = [each["params"] for each in got if "progress" in each.get("method", "")]
        assert [each["progressToken"] for each in notices] == ["t", "t"]
        assert [each["message"] for each in notices] == ["of 1", "of t"]
        await ours.close()
        await served.wait_until_gone()


async def test_input_that_is_asked_for_in_a_result_passes_through_with_its_state() -> None:
    server = Server("upstream", "1", revisions=["2026-07-28"])

    @server.tool
    async def book(ctx: Context) -> str:
        answer = await ctx.elicit("Sure?", bool)
        return f"{answer.content}"

    async def agree(question: Any) -> Any:
        return t.ElicitResult(action="accept", content={"value": True})

    for _ in range(2):  # another bridge, as after a restart, needs no state of the first one
        bridge = Bridge(server, revisions=["2026-07-28"])
        async with Client(bridge.server, on_elicit=agree) as client:
            assert (await client.call_tool("book")).text == "True"


@pytest.mark.parametrize("revision", ERAS)
async def test_names_are_replaced_and_refused_as_for_any_other_call(revision: str) -> None:
    server = Server("upstream", "1", revisions=[revision])

    @server.tool
    def add(a: int) -> list[Any]:
        link = t.ResourceLink(name="n", uri="note://n")
        return [t.TextContent(text=f"{a}"), link]

    @server.tool
    def secret() -> str:
        return "secret"

    def allow(access: Access) -> bool:
        return "secret" not in access.name

    upstream = Upstream.of(server, Names(prefix="p", renamed={"add": "plus"}))
    bridge = Bridge({"only": upstream}, revisions=[revision], allow=allow)
    async with Client(bridge.server) as client:
        for _ in range(2):
            content = (await client.call_tool("plus", {"a": 2})).content
            assert [getattr(each, "uri", "") for each in content] == ["", "note://p/n"]
            for name in ("p_secret", "secret", "add"):
                with pytest.raises(RemoteError, match=f"Unknown tool: {name}"):
                    await client.call_tool(name)


async def test_a_middleware_a_hook_and_a_rate_limit_hold_for_calls_that_could_be_carried() -> None:
    server = Server("upstream", "1")
    server.tool(name="add")(lambda: "1")
    limits = Limits(call_rate=2)
    bridge, seen = Bridge(server, limits=limits), list[str]()
    async with Client(bridge.server) as client:
        await client.call_tool("add")

        @bridge.server.middleware
        async def watch(method: str, params: Any, ctx: Context, call: Any) -> Any:
            seen.append(method)
            return await call(params, ctx)

        await client.call_tool("add")
        assert seen == ["tools/call"]
        with pytest.raises(RemoteError, match=r"too many a second \(Limits.call_rate\)"):
            await client.call_tool("add")


async def test_calls_are_answered_with_an_error_when_their_server_is_gone() -> None:
    server, clients = Server("upstream", "1"), list[Any]()

    @server.tool
    async def wait() -> None:
        await asyncio.Event().wait()

    def connect(**options: Any) -> Client:
        client = Client(server, **options)
        clients.append(client)
        return client

    bridge = Bridge(Upstream(connect=connect))
    async with Client(bridge.server) as client:
        called = asyncio.create_task(client.call_tool("wait"))
        await elapse(0.1)
        await clients[-1].connection.wire.close()
        with pytest.raises(RemoteError, match="upstream: not available"):
            await called
