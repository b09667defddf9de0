"""A connection outlives its handlers, its callbacks and its peers."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.errors import RpcError
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from tests.support.patience import until
from tests.support.raw_peer import connected
from tests.support.session_pair import (
    HANDSHAKE,
    NEWEST,
    cancelled,
    notification,
    request,
    with_meta,
)
from tests.support.virtual_time import elapse

SHAKEN: Final = HANDSHAKE[-1]


def call(id: Any, tool: str, spoken: str = SHAKEN) -> bytes:
    return request(id, "tools/call", with_meta(spoken, {"name": tool, "arguments": {}}))


# ---- errors of handlers


@pytest.mark.parametrize(
    "raised",
    [
        RpcError(5, "no", data=object()),
        RpcError(5, "no", data={"a": {1: b"", "n": object()}}),
        RpcError(5, "lone \ud800"),
        RpcError("five", "no"),
        RpcError(5, None),
        ValueError("lone \ud800"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("spoken", [SHAKEN, NEWEST])
async def test_an_error_that_has_no_form_in_json_is_answered_nevertheless(
    raised: Exception, spoken: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL + 1, "mcp_runtime")  # no report can carry a lone surrogate
    server = Server("s", "1")

    @server.tool
    async def fail() -> str:
        raise raised

    @server.on("acme/fail")
    async def fail_otherwise(params: Any, ctx: Context) -> Any:
        raise raised

    async with connected(server, spoken) as peer:
        params = with_meta(spoken, {"name": "fail"})
        for id, method in enumerate(("tools/call", "acme/fail")):
            answer = await peer.asks(id, method, params)
            if "result" in answer:  # a tool that fails: its text is not repeated
                assert (method, answer["result"]["isError"]) == ("tools/call", True)
            else:
                assert answer["error"]["code"] in {-32603, 5}
            assert "object at" not in str(answer)


async def test_a_method_beyond_the_protocol_takes_and_gives_json_objects() -> None:
    server = Server("s", "1")

    @server.on("acme/echo")
    async def echo(params: Any, ctx: Context) -> Any:
        return {} if params == t.UNSET else params

    async with connected(server, SHAKEN) as peer:
        params = {"a": [1, None, {"_meta": 5}]}
        assert (await peer.asks(1, "acme/echo", params))["result"] == params
        assert (await peer.asks(2, "acme/echo"))["result"] == {}
    async with connected(server, NEWEST) as peer:
        answer = await peer.asks(1, "acme/echo", with_meta(NEWEST, {"a": 1}))
        assert answer["result"]["a"] == 1
        assert (await peer.asks(2, "acme/echo", with_meta(NEWEST, {})))["result"]["_meta"]


# ---- requests that were given up


@pytest.mark.requirement("transport.stdio.cancel.silence", "cancel.race")
@pytest.mark.parametrize("spoken", [SHAKEN, NEWEST])
async def test_a_handler_that_goes_on_after_a_cancellation_is_not_heard(spoken: str) -> None:
    server = Server("s", "1")
    going, ended = asyncio.Event(), asyncio.Event()

    @server.tool
    async def stubborn(ctx: Context) -> str:
        going.set()
        try:
            await elapse(60)
        except asyncio.CancelledError:
            await ctx.progress(1)
            if ctx.era == "per-request":
                await ctx.log("emergency", "still here")
            await elapse(0.01)
            ended.set()
        return "late"

    async with connected(server, spoken) as peer:
        params = with_meta(spoken, {"name": "stubborn"}, token="t")
        params["_meta"]["io.modelcontextprotocol/logLevel"] = "debug"
        peer.say(request(1, "tools/call", params))
        await going.wait()
        peer.say(cancelled(1))
        await ended.wait()
        await elapse(0.01)
        assert peer.came == []


async def test_an_id_used_again_after_a_cancellation_gets_the_answer_of_its_own_request() -> None:
    server = Server("s", "1")
    started, may_end = asyncio.Event(), asyncio.Event()

    @server.tool
    async def stubborn() -> str:
        started.set()
        try:
            await elapse(60)
        except asyncio.CancelledError:
            await may_end.wait()
        return "of the first"

    @server.tool
    async def second() -> str:
        await elapse(60)
        return "never"

    async with connected(server, SHAKEN) as peer:
        peer.say(call(1, "stubborn"))
        await started.wait()
        peer.say(cancelled(1), call(1, "second"))
        await peer.settles()
        may_end.set()
        await elapse(0.01)
        assert list(peer.connection.session.running) == [1]
        assert peer.came == []
        peer.say(cancelled(1))
        await peer.settles()
        await until(lambda: not peer.connection._tasks)


async def test_the_end_waits_for_handlers_that_were_given_up() -> None:
    server = Server("s", "1")
    cleaned: list[str] = []
    started = asyncio.Event()

    @server.tool
    async def cleans() -> str:
        started.set()
        try:
            await elapse(60)
        finally:
            await elapse(0.02)
            cleaned.append("up")
        return ""

    async with connected(server, SHAKEN) as peer:
        peer.say(call(1, "cleans"))
        await started.wait()
        peer.say(cancelled(1))
        await peer.settles()
    assert cleaned == ["up"]


# ---- callbacks


@pytest.mark.parametrize("spoken", ALL)
async def test_a_callback_that_fails_costs_no_message(spoken: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def talks(ctx: Context) -> str:
        await ctx.log("error", "x")
        await ctx.progress(1)
        return "done"

    def fail(*_: Any) -> None:
        raise ValueError("a callback of ours")

    client = Client(server, revisions=[spoken], on_log=fail, log_level="debug", trace=fail)
    async with client:
        result = await client.call_tool("talks", on_progress=fail)
        assert result.content[0].text == "done"


async def test_a_notification_handler_that_fails_costs_no_message() -> None:
    server = Server("s", "1")

    @server.on("notifications/roots/list_changed")
    def fail(params: Any, connection: Any) -> None:
        raise ValueError("a handler of ours")

    async with connected(server, SHAKEN) as peer:
        peer.say(notification("notifications/roots/list_changed"), request(1, "ping"))
        assert (await peer.hears())["id"] == 1


# ---- changes


async def test_a_change_after_the_peer_is_gone_is_told_to_nobody() -> None:
    server = Server("s", "1")
    removed: list[str] = []

    @server.tool
    async def changes() -> str:
        try:
            await elapse(60)
        finally:
            server.remove_tool("changes")
            removed.append("changes")
        return ""

    async with connected(server, NEWEST) as peer:
        listening = with_meta(NEWEST, {"notifications": {"toolsListChanged": True}})
        peer.say(request(1, "subscriptions/listen", listening))
        await peer.hears()
        peer.say(call(2, "changes", NEWEST))
        await until(lambda: 2 in peer.connection.session.running)
        await asyncio.sleep(0)
    assert removed == ["changes"]


@pytest.mark.parametrize("kind", [None, "tools"])
@pytest.mark.requirement("lifecycle.capabilities.negotiated")
async def test_a_change_is_told_only_to_who_was_told_that_there_are_changes(kind: Any) -> None:
    server = Server("s", "1", offers=() if kind is None else (kind,))

    async with connected(server, SHAKEN) as peer:
        await peer.settles()
        for name in ("one", "two"):
            server.add_tool(lambda: "", name=name)
            await peer.settles()
        methods = [message["method"] for message in peer.came]
        assert methods == ["notifications/tools/list_changed"] * (2 if kind else 0)
