"""Plain functions as tools: one client's do not stall another's."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import ALL
from mcp_runtime.revisions import latest as t
from tests.support.asgi_client import LATEST, serving
from tests.support.patience import PATIENCE, until
from tests.support.raw_peer import RawPeer, connected
from tests.support.session_pair import HANDSHAKE, cancelled, request

pytestmark = pytest.mark.real_time

SHAKEN: Final = HANDSHAKE[-1]


class Hangs:
    """A server with a tool that hangs until `end` is set, and one that does not."""

    def __init__(self, **limits: int) -> None:
        self.end = threading.Event()
        self.begun = self.running = 0
        self.server = Server("s", "1", limits=Limits(**limits))

        @self.server.tool
        def hang() -> str:
            self.begun += 1
            self.running += 1
            self.end.wait(PATIENCE)
            self.running -= 1
            return ""

        @self.server.tool
        def quick() -> str:
            return "quick"


def calls(peer: RawPeer, count: int) -> None:
    peer.say(*(request(id, "tools/call", {"name": "hang"}) for id in range(count)))


async def quick(peer: RawPeer) -> None:
    async with asyncio.timeout(PATIENCE):
        answer = await peer.asks("quick", "tools/call", {"name": "quick"})
    assert answer["result"]["content"][0]["text"] == "quick"


async def test_calls_of_one_client_do_not_stall_those_of_another() -> None:
    hangs = Hangs(threads=8, session_threads=3)
    try:
        async with connected(hangs.server, SHAKEN) as one:
            calls(one, 50)
            await until(lambda: hangs.running == 3)
            async with connected(hangs.server, SHAKEN) as other:
                await quick(other)
            assert hangs.running == 3
    finally:
        hangs.end.set()


async def test_a_client_that_has_gone_gives_its_places_back() -> None:
    hangs = Hangs(threads=2, session_threads=2)
    try:
        async with connected(hangs.server, SHAKEN) as one:
            calls(one, 2)
            await until(lambda: hangs.running == 2)
        async with connected(hangs.server, SHAKEN) as other:
            await quick(other)
            assert hangs.running == 2
    finally:
        hangs.end.set()


async def test_cancelled_calls_give_their_places_back_and_do_not_run_later() -> None:
    hangs = Hangs(threads=2, session_threads=2)
    try:
        async with connected(hangs.server, SHAKEN) as peer:
            calls(peer, 5)
            await until(lambda: hangs.running == 2)
            peer.say(*map(cancelled, range(5)))
            await quick(peer)
            assert hangs.running == 2
    finally:
        hangs.end.set()


async def test_threads_that_were_left_behind_are_bounded() -> None:
    hangs = Hangs(threads=2, session_threads=2)
    try:
        async with connected(hangs.server, SHAKEN) as peer:
            for round_ in range(4):
                calls(peer, 2)
                running = min(2 * round_ + 2, 4)
                await until(lambda running=running: hangs.running == running)
                peer.say(*map(cancelled, range(2)))
                await peer.settles()
            assert hangs.running == 4
            hangs.end.set()
            await quick(peer)
            assert hangs.begun == 4
    finally:
        hangs.end.set()


async def test_over_http_a_call_whose_client_has_gone_gives_its_place_back() -> None:
    hangs = Hangs(threads=1)
    try:
        async with serving(hangs.server) as client:
            response = client.call("hang")
            await until(lambda: hangs.running == 1)
            response.disconnect()
            async with asyncio.timeout(PATIENCE):
                assert b"quick" in (await client.call("quick").until_over()).body
    finally:
        hangs.end.set()


async def test_over_http_the_calls_of_one_principal_leave_places_for_those_of_another() -> None:
    hangs = Hangs(threads=3, principal_threads=2)
    try:
        async with serving(hangs.server, principal=lambda scope: scope["user"]) as client:
            calls = [client.call("hang", user="ann") for _ in range(5)]
            await until(lambda: hangs.running == 2)
            async with asyncio.timeout(PATIENCE):
                for user in ("eve", ""):
                    assert b"quick" in (await client.call("quick", user=user).until_over()).body
            assert hangs.running == 2
            hangs.end.set()
            for each in calls:
                assert (await each.until_over()).status == 200
    finally:
        hangs.end.set()


async def test_an_async_handler_runs_a_plain_function_in_a_thread() -> None:
    server = Server("s", "1")

    @server.tool
    async def where(ctx: Context) -> str:
        name, is_main = await ctx.in_thread(_here, prefix="mcp")
        return f"{name} {is_main}"

    async with Client(server) as client:
        assert "mcp False" in str(await client.call_tool("where"))


def _here(prefix: str) -> tuple[str, bool]:
    current = threading.current_thread()
    return current.name[: len(prefix)], current is threading.main_thread()


@pytest.mark.parametrize("revision", ALL)
async def test_a_plain_function_may_change_the_lists_and_the_client_is_told(revision: str) -> None:
    server = Server("s", "1", offers=["resources"])

    @server.resource("a://b")
    def text() -> str:
        return ""

    @server.tool
    def grow() -> str:
        server.add_tool(text, name="text")
        server.resource_updated("a://b")
        return "grown"

    async with (
        asyncio.timeout(PATIENCE),
        Client(server, revisions=[revision]) as client,
        client.listen(tools=True, uris=["a://b"]) as changes,
    ):
        assert "grown" in str(await client.call_tool("grow"))
        assert [(await anext(changes)).what for _ in range(2)] == ["tools", "resource"]
        assert [tool.name for tool in await client.list_tools()] == ["grow", "text"]


@pytest.mark.parametrize(
    "error", [SystemExit(60), StopIteration(), KeyboardInterrupt(), GeneratorExit()]
)
async def test_a_function_that_ends_strangely_keeps_no_place(error: BaseException) -> None:
    server = Server("s", "1", limits=Limits(threads=1, session_threads=1))

    @server.tool
    def fails() -> str:
        raise error

    async with connected(server, SHAKEN) as peer:
        for id in range(60):
            async with asyncio.timeout(PATIENCE):
                await peer.asks(id, "tools/call", {"name": "fails"})


@pytest.mark.parametrize("limits", [{"threads": 2}, {"session_threads": 2}])
async def test_plain_functions_that_wait_for_plain_functions_do_not_wait_for_a_place(
    limits: dict[str, int],
) -> None:
    server = Server("s", "1", limits=Limits(**limits))
    both = threading.Barrier(2)

    def text(ctx: Context, uri: str) -> str:
        (content,) = ctx.wait(ctx.read(uri))
        assert isinstance(content, t.TextResourceContents)
        return content.text

    @server.resource("a://inner")
    def inner() -> str:
        return "text"

    @server.resource("a://outer")
    def outer(ctx: Context) -> str:
        return text(ctx, "a://inner")

    @server.tool
    def read(ctx: Context) -> str:
        both.wait(PATIENCE)  # until no place is left
        return text(ctx, "a://outer")

    async with Client(server) as client, asyncio.timeout(PATIENCE):
        results = await asyncio.gather(*(client.call_tool("read", {}) for _ in range(8)))
    assert [result.content for result in results] == [[t.TextContent(text="text")]] * 8


@pytest.mark.parametrize("revision", [LATEST, SHAKEN])
async def test_over_http_hung_calls_of_one_address_leave_places_for_those_of_others(
    revision: str,
) -> None:
    hangs = Hangs(threads=16, session_threads=4, principal_threads=12)
    try:
        async with serving(hangs.server) as client:
            for address, running in (("192.0.2.1", 12), ("192.0.2.2", 14), ("192.0.2.3", 15)):
                for number in range(5):
                    if revision == LATEST:
                        peer: Any = client
                        scope: dict[str, Any] = {"client": (address, number)}
                    else:
                        peer = await client.session(revision, client=(address, number))
                        scope = {}
                    for _ in range(5):
                        peer.call("hang", **scope)
                await until(lambda running=running: hangs.running == running)
                for other in range(2):
                    async with asyncio.timeout(PATIENCE):
                        answer = client.call("quick", client=(f"198.51.100.{other}", 1))
                        assert b"quick" in (await answer.until_over()).body
                assert hangs.running == running
            hangs.end.set()
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(each.task for each in client.open))
            assert hangs.begun == 75
    finally:
        hangs.end.set()
