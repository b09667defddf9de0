"""What comes too fast is refused or dropped, and what was forgiven is seen."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest

from mcp_runtime.client.client import Client
from mcp_runtime.client.connection import ClientWireConnection, ConnectionOwner
from mcp_runtime.core.session.rate_limit import Bucket
from mcp_runtime.errors import RemoteError
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.server import Server
from mcp_runtime.trace import TraceFile
from mcp_runtime.transports.memory import pair
from mcp_runtime.transports.wire import Wire


def test_a_bucket_lets_through_its_rate_in_the_mean_and_as_many_at_once() -> None:
    bucket = Bucket(10)
    assert [bucket.allow(0) for _ in range(11)] == [True] * 10 + [False]
    assert [bucket.allow(0.25) for _ in range(3)] == [True, True, False]
    assert [bucket.allow(100) for _ in range(11)] == [True] * 10 + [False]


def a_server(limits: Limits) -> Server:
    server = Server("s", "1", limits=limits)

    @server.tool
    async def nothing() -> str:
        return ""

    @server.prompt
    def greet(name: str) -> str:
        return name

    @server.completion("greet", "name")
    def names(value: str) -> list[str]:
        return []

    return server


async def test_calls_over_the_rate_are_refused_and_the_session_lives_on() -> None:
    async with Client(a_server(Limits(call_rate=2))) as client:
        await client.call_tool("nothing")
        await client.call_tool("nothing")
        with pytest.raises(RemoteError, match=r"Limits\.call_rate"):
            await client.call_tool("nothing")
        await client.list_tools()


async def test_completions_over_the_rate_are_refused() -> None:
    async with Client(a_server(Limits(completion_rate=1))) as client:
        await client.complete(t.PromptReference(name="greet"), "name", "")
        with pytest.raises(RemoteError, match=r"Limits\.completion_rate"):
            await client.complete(t.PromptReference(name="greet"), "name", "")


class Careless:
    """A server of the newest revision that leaves out what results must have."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def received(self, chunk: bytes) -> None:
        for line in chunk.splitlines():
            asked: dict[str, Any] = json.loads(line)
            result = {"supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": -5}
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
            self.wire.write(json.dumps(answer).encode() + b"\n")

    def ended(self) -> None:
        pass


async def test_what_was_forgiven_is_counted_and_stands_in_the_trace() -> None:
    file = BytesIO()

    async def main() -> dict[str, int]:
        async def opened(stack: Any, owner: ConnectionOwner) -> ClientWireConnection:
            ours, theirs = pair(owner.settings.limits)
            theirs.start(Careless(theirs))
            return ClientWireConnection(owner, ours)

        async with Client(opened, trace=TraceFile(file)) as client:
            return dict(client.forgiven)

    assert await main() == {"resultType": 1, "ttlMs": 1, "cacheScope": 1}
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    forgiven = [line["text"] for line in lines if line["direction"] == "forgiven"]
    assert sorted(forgiven) == ["cacheScope", "resultType", "ttlMs"]
