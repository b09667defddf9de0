"""Responses whose client is gone: what is logged, and what can be resumed."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from tests.support.asgi_client import POST, mirrors, request, serving
from tests.support.loopback import Loopback


def flooding(begun: threading.Event, broken: threading.Event) -> Server:
    server = Server("s", "1", limits=Limits(log_rate=1e6))

    @server.tool
    async def flood(ctx: Context) -> str:
        await ctx.log("info", "first")
        await asyncio.sleep(0.1)
        begun.set()
        broken.wait(5)  # the event loop does not see that the connection breaks
        for _ in range(3000):
            await ctx.log("info", "x" * 100)
        return "over"

    return server


def test_a_stream_that_was_broken_is_logged_once_at_most(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun, broken, warned = threading.Event(), threading.Event(), "socket.send() raised exception."
    meta = {"_meta": {"io.modelcontextprotocol/logLevel": "debug"}}
    said = request("tools/call", {"name": "flood", "arguments": {}, **meta})
    body = json.dumps(said).encode()
    headers = {**POST, **mirrors(said), "Content-Length": str(len(body))}
    with Loopback() as loopback, loopback.mounted(flooding(begun, broken).asgi()) as url:
        host, port = loopback.origin.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            path = url.removeprefix(loopback.origin) + "/mcp"
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            client.sendall(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
            assert begun.wait(5)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        time.sleep(0.1)
        broken.set()
        time.sleep(0.5)
    assert [each.getMessage() for each in caplog.records].count(warned) <= 1


@pytest.mark.parametrize("revision", ["2025-11-25"])
async def test_a_quiet_call_can_be_resumed_from_its_first_second(revision: str) -> None:
    server, go = Server("s", "1"), asyncio.Event()

    @server.tool
    async def quiet() -> str:
        await go.wait()
        return "over"

    async with serving(server) as client:
        session = await client.session(revision)
        response = session.call("quiet")
        async with asyncio.timeout(1):
            await response.until_events(1)
        assert response.events[0].id is not None
        await response.drop()
        go.set()
        resumed = await session.get(response.events[0].id).until_over()
        assert "over" in str(resumed.messages)


@pytest.mark.parametrize("swallows", [False, True])
async def test_a_request_whose_task_is_cancelled_ends_with_its_handler(swallows: bool) -> None:
    server, begun = Server("s", "1"), asyncio.Event()

    @server.tool
    async def waits() -> str:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if not swallows:
                raise
        return "over"

    async with serving(server) as client:
        response = client.call("waits")
        await begun.wait()
        await asyncio.sleep(0.01)
        response.task.cancel()
        await response.until_over()
        assert (b"over" in response.body) == swallows
        assert (await client.call("nothing").until_over()).status == 200
