"""Responses whose client is gone: what is logged, and what can be resumed."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from tests.support.asgi_client import POST, mirrors, request, serving
from tests.support.loopback import Loopback
from tests.support.patience import PATIENCE, until
from tests.support.virtual_time import elapse


class Steps:
    """Of a call that goes on while its client breaks off."""

    def __init__(self) -> None:
        self.read, self.held, self.broken = (threading.Event() for _ in range(3))


def flooding(steps: Steps) -> Server:
    server = Server("s", "1", limits=Limits(log_rate=1e6))

    @server.tool
    async def flood(ctx: Context) -> str:
        await ctx.log("info", "first")
        await until(steps.read.is_set)
        steps.held.set()
        steps.broken.wait(PATIENCE)  # the event loop does not see that the connection breaks
        for _ in range(3000):
            await ctx.log("info", "x" * 100)
        return "over"

    return server


def test_a_stream_that_was_broken_is_logged_once_at_most(
    caplog: pytest.LogCaptureFixture,
) -> None:
    steps, warned = Steps(), "socket.send() raised exception."
    meta = {"_meta": {"io.modelcontextprotocol/logLevel": "debug"}}
    said = request("tools/call", {"name": "flood", "arguments": {}, **meta})
    body = json.dumps(said).encode()
    headers = {**POST, **mirrors(said), "Content-Length": str(len(body))}
    with Loopback() as loopback, loopback.mounted(flooding(steps).asgi()) as url:
        host, port = loopback.origin.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            path = url.removeprefix(loopback.origin) + "/mcp"
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            client.sendall(f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
            answer = b""
            while b"first" not in answer:
                answer += client.recv(65_536)
            steps.read.set()
            assert steps.held.wait(PATIENCE)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        steps.broken.set()
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
            await elapse(60)
        except asyncio.CancelledError:
            if not swallows:
                raise
        return "over"

    async with serving(server) as client:
        response = client.call("waits")
        await begun.wait()
        await elapse(0.01)
        response.task.cancel()
        await response.until_over()
        assert (b"over" in response.body) == swallows
        assert (await client.call("nothing").until_over()).status == 200
