"""Every request ends in an answer, whatever its handler does, and keeps no place afterwards."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from tests.support.asgi_client import serving
from tests.support.raw_peer import connected
from tests.support.session_pair import HANDSHAKE, NEWEST, notification, with_meta
from tests.support.virtual_time import elapse

SHAKEN: Final = HANDSHAKE[-1]
EACH: Final = pytest.mark.parametrize("spoken", [SHAKEN, NEWEST])


class Strange(BaseException):
    """No Exception."""


async def awaits_what_was_cancelled() -> None:
    inner = asyncio.create_task(elapse(60))
    asyncio.get_running_loop().call_soon(inner.cancel)
    await inner


async def cancels_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await elapse(60)


async def raises(error: BaseException) -> None:
    raise error


ENDS: Final[dict[str, Callable[[], Any]]] = {
    "an inner task was cancelled": awaits_what_was_cancelled,
    "it cancels itself": cancels_itself,
    "CancelledError": lambda: raises(asyncio.CancelledError()),
    "SystemExit": lambda: raises(SystemExit(3)),
    "sys.exit of a plain function": lambda: asyncio.to_thread(sys.exit, 3),
    "GeneratorExit": lambda: raises(GeneratorExit()),
    "no Exception": lambda: raises(Strange()),
    "a group": lambda: raises(BaseExceptionGroup("two", [Strange(), ValueError()])),
}


def ending(**options: Any) -> Server:
    """A server whose tools, named as in ENDS, and whose method `acme/end` end in strange ways."""
    server = Server("s", "1", **options)
    for number, end in enumerate(ENDS.values()):

        async def tool(end: Callable[[], Any] = end) -> str:
            await end()
            return ""

        # The default is no argument of the tool.
        server.add_tool(_without_arguments(tool), name=f"t{number}")

    @server.tool
    def plain_exit() -> str:
        sys.exit(3)

    @server.tool
    def plain_strange() -> str:
        raise Strange

    @server.on("acme/end")
    async def end_method(params: Any, ctx: Context) -> Any:
        await list(ENDS.values())[params["n"]]()

    return server


def _without_arguments(tool: Callable[[], Any]) -> Callable[[], Any]:
    async def call() -> str:
        return str(await tool())

    return call


NAMES: Final = [*(f"t{number}" for number in range(len(ENDS))), "plain_exit", "plain_strange"]


@EACH
async def test_on_a_stream_a_handler_that_ends_strangely_is_answered(spoken: str) -> None:
    async with connected(ending(), spoken) as peer:
        for id, name in enumerate(NAMES):
            answer = await peer.asks(id, "tools/call", with_meta(spoken, {"name": name}))
            assert answer["error"]["code"] == -32603, name
            assert not peer.connection.session.running
        for number in range(len(ENDS)):
            answer = await peer.asks(number, "acme/end", with_meta(spoken, {"n": number}))
            assert answer["error"]["message"].startswith("Internal error (reference ")


async def test_over_http_a_handler_that_ends_strangely_is_answered() -> None:
    async with serving(ending()) as client:
        session = await client.session()
        for name in NAMES:
            for response in (client.call(name), session.call(name)):
                answer = (await response.until_over()).json
                assert answer["error"]["code"] == -32603, name


@EACH
async def test_such_handlers_keep_no_place(spoken: str) -> None:
    async with connected(ending(limits=Limits(in_flight=4)), spoken) as peer:
        for id in range(40):
            answer = await peer.asks(id, "tools/call", with_meta(spoken, {"name": "t0"}))
            assert answer["error"]["message"].startswith("Internal error (reference ")


async def test_a_client_answers_whatever_its_callback_does() -> None:
    server = Server("s", "1")

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            await ctx.sample("hello", max_tokens=1, timeout=10)
        except Exception as error:
            return str(error)
        return "answered"

    async def on_sample(params: Any) -> t.CreateMessageResult:
        await awaits_what_was_cancelled()
        raise AssertionError

    async with Client(server, on_sample=on_sample, revisions=[SHAKEN]) as client:
        result = await client.call_tool("ask")
        assert "Internal error" in str(result.content)


@pytest.mark.parametrize("is_async", [False, True])
async def test_sys_exit_in_the_handler_of_a_notification_does_not_end_the_server(
    is_async: bool,
) -> None:
    server = ending()

    async def exits(params: Any, connection: Any) -> None:
        sys.exit(3)

    def exits_at_once(params: Any, connection: Any) -> None:
        sys.exit(3)

    server.on("notifications/roots/list_changed")(exits if is_async else exits_at_once)

    async with connected(server, SHAKEN) as peer:
        peer.say(notification("notifications/roots/list_changed"))
        await peer.settles()
        await asyncio.sleep(0)
        await peer.settles()


async def test_a_result_that_cannot_be_sent_names_its_tool(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s", "1")

    @server.tool(name="average")
    async def mean() -> float:
        return float("nan")

    async with Client(server) as client:
        result = await client.call_tool("average")
        assert result.is_error is True
    assert "tool average: $: expected a finite number, found nan" in caplog.text
