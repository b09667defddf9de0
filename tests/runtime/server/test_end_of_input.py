"""Once its input has ended a server sends answers alone, and nothing about a cancelled request.

A client that gave up a call closes its side, and may have closed its reader before: hosts on the
official SDK 1.x fail over whatever else comes then.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.errors import Disconnected, SessionError
from mcp_runtime.revisions import ALL
from mcp_runtime.server.connection import ServerWireConnection
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.transports.wire import Receiver
from tests.support.session_pair import (
    HANDSHAKE,
    NEWEST,
    initialize,
    notification,
    request,
    with_meta,
)


class HalfOpen:
    """A wire whose input a test can end while its output stays open."""

    waiting = 0

    def __init__(self) -> None:
        self.written: list[Any] = []
        self.receiver: Receiver | None = None

    def start(self, receiver: Receiver) -> None:
        self.receiver = receiver

    def say(self, *messages: bytes) -> None:
        assert self.receiver is not None
        self.receiver.received(b"".join(message + b"\n" for message in messages))

    def end_input(self) -> None:
        """Ends the input, and forgets what was written before."""
        assert self.receiver is not None
        self.written.clear()
        self.receiver.ended()

    def write(self, data: bytes) -> None:
        self.written += map(json.loads, data.splitlines())

    async def drain(self) -> None:
        pass

    async def close(self) -> None:
        pass


@asynccontextmanager
async def served(server: Server, spoken: str, grace: float = 60) -> AsyncGenerator[HalfOpen]:
    """A client with a handshake where the revision has one; at the end the server has ended."""
    wire = HalfOpen()
    serving = asyncio.create_task(ServerWireConnection(dispatcher_of(server)).serve(wire, grace))
    await asyncio.sleep(0)
    if spoken in HANDSHAKE:
        opening = initialize(spoken)
        wire.say(request(0, "initialize", opening), notification("notifications/initialized"))
    yield wire
    async with asyncio.timeout(60):
        await serving


def call(spoken: str, tool: str) -> bytes:
    meta = {"progressToken": 7, "io.modelcontextprotocol/logLevel": "debug"}
    params = with_meta(spoken, {"name": tool, "arguments": {}})
    params["_meta"] = {**params.get("_meta", {}), **meta}
    return request(1, "tools/call", params)


def another() -> str:
    return ""


def telling() -> tuple[Server, asyncio.Event, list[BaseException]]:
    """A server whose tool waits, then sends all that a handler can send, and answers."""
    server, goes_on, raised = Server("s", "1"), asyncio.Event(), list[BaseException]()

    @server.tool
    async def tells(ctx: Context) -> str:
        await goes_on.wait()
        await ctx.info("still here")
        await ctx.progress(1.0)
        server.tool(another)  # the list has changed
        if ctx.revision in HANDSHAKE:
            try:
                await ctx.roots()
            except SessionError as error:
                raised.append(error)
        return "done"

    return server, goes_on, raised


@pytest.mark.parametrize("spoken", ALL)
async def test_within_the_grace_an_answer_is_sent_and_nothing_else(spoken: str) -> None:
    server, goes_on, _ = telling()
    async with served(server, spoken) as wire:
        wire.say(call(spoken, "tells"))
        await asyncio.sleep(0)
        wire.end_input()
        goes_on.set()
    (answer,) = wire.written
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (1, "done")


@pytest.mark.parametrize("spoken", ALL)
async def test_before_the_end_the_same_handler_sends_all_of_it(spoken: str) -> None:
    server, goes_on, _ = telling()
    async with served(server, spoken) as wire:
        wire.say(call(spoken, "tells"))
        goes_on.set()
        for _ in range(20):
            await asyncio.sleep(0)
        methods = {message.get("method") for message in wire.written}
        assert methods >= {"notifications/message", "notifications/progress"}
        wire.end_input()


async def test_a_question_after_the_end_fails_in_the_handler() -> None:
    server, goes_on, raised = telling()
    opening = {**initialize("2025-11-25"), "capabilities": {"roots": {}}}
    async with served(server, NEWEST) as wire:
        wire.say(request(0, "initialize", opening), notification("notifications/initialized"))
        wire.say(call("2025-11-25", "tells"))
        await asyncio.sleep(0)
        wire.end_input()
        goes_on.set()
    assert [type(error) for error in raised] == [Disconnected]
    assert [message["id"] for message in wire.written] == [1]


@pytest.mark.parametrize("spoken", ALL)
async def test_a_call_that_outlasts_the_grace_has_no_answer_and_no_error(spoken: str) -> None:
    server = Server("s", "1")
    ended: list[str] = []

    @server.tool
    async def forever(ctx: Context) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
            await ctx.info("cancelled")
        return ""

    async with served(server, spoken, grace=0.01) as wire:
        wire.say(call(spoken, "forever"))
        await asyncio.sleep(0)
        wire.end_input()
    assert (wire.written, ended) == ([], ["cancelled"])


@pytest.mark.parametrize("spoken", ALL)
async def test_a_cancelled_request_has_no_answer_no_logs_and_no_progress(spoken: str) -> None:
    server = Server("s", "1")
    ended = asyncio.Event()

    @server.tool
    async def cleans_up(ctx: Context) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            await ctx.warning("was cancelled")
            await ctx.progress(2.0)
            ended.set()
        return ""

    async with served(server, spoken) as wire:
        wire.say(call(spoken, "cleans_up"))
        for _ in range(5):
            await asyncio.sleep(0)
        wire.written.clear()
        wire.say(notification("notifications/cancelled", {"requestId": 1}))
        await ended.wait()
        assert wire.written == []
        wire.end_input()


async def test_an_open_subscription_ends_with_its_result_alone() -> None:
    server, goes_on, _ = telling()
    async with served(server, NEWEST) as wire:
        wanted = with_meta(NEWEST, {"notifications": {"toolsListChanged": True}})
        wire.say(call(NEWEST, "tells"), request(2, "subscriptions/listen", wanted))
        await asyncio.sleep(0)
        wire.end_input()
        goes_on.set()
    assert sorted(message["id"] for message in wire.written) == [1, 2]
    assert all("result" in message for message in wire.written)
