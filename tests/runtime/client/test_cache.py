"""What a server says that holds for a while is asked for once in that while."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import structs

from mcp_runtime.client.cache import Cache
from mcp_runtime.client.client import Client
from mcp_runtime.core.session.events import Notified
from mcp_runtime.core.session.held import OF_PROCESS, HeldBytes
from mcp_runtime.errors import RpcError
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import latest as t
from mcp_runtime.server.context import Context
from mcp_runtime.server.server import Server
from tests.support.session_pair import held_by_process
from tests.support.virtual_time import elapse

HOUR = 3_600_000


def a_server(ttl_ms: int = HOUR, page_size: int = 100) -> tuple[Server, Counter[str]]:
    """A server, and how often it was asked for what."""
    server = Server("s", "1", ttl_ms=ttl_ms, limits=Limits(page_size=page_size))
    asked: Counter[str] = Counter()

    @server.middleware
    async def count(
        method: str, params: Any, ctx: Context, call: Callable[[Any, Context], Awaitable[Any]]
    ) -> Any:
        asked[method] += 1
        return await call(params, ctx)

    @server.tool
    async def one() -> str:
        return ""

    @server.tool
    async def two() -> str:
        return ""

    @server.resource("a://b")
    async def b() -> str:
        return "b"

    return server, asked


async def ask(client: Client, times: int = 2) -> None:
    for _ in range(times):
        await client.list_tools()
        await client.list_resources()
        await client.read_resource("a://b")


@pytest.mark.requirement("caching.ttl.positive-is-fresh", "caching.freshness.local-clock")
async def test_what_is_fresh_is_not_asked_for_again() -> None:
    server, asked = a_server()

    async with Client(server) as client:
        await ask(client)
    assert asked == {"tools/list": 1, "resources/list": 1, "resources/read": 1}


@pytest.mark.requirement("caching.ttl.zero-is-stale", "caching.stale.refetch-on-access")
@pytest.mark.parametrize("ttl_ms", [0, 1])
async def test_what_is_stale_is_asked_for_when_it_is_needed(ttl_ms: int) -> None:
    server, asked = a_server(ttl_ms)

    async with Client(server) as client:
        await ask(client, 1)
        await elapse(0.01)
        await ask(client, 1)
    assert asked == {"tools/list": 2, "resources/list": 2, "resources/read": 2}


async def test_a_client_without_a_cache_asks_each_time_and_so_does_one_of_an_older_revision() -> (
    None
):
    server, asked = a_server()

    async with Client(server, cache=False) as client:
        await ask(client)
    async with Client(server, revisions=["2025-11-25"]) as client:
        await ask(client)
    assert asked == {"tools/list": 4, "resources/list": 4, "resources/read": 4}


@pytest.mark.requirement("caching.scope.private-not-shared")
async def test_clients_share_nothing() -> None:
    server, asked = a_server()

    for _ in range(2):
        async with Client(server) as client:
            await client.list_tools()
    assert asked["tools/list"] == 2


@pytest.mark.requirement(
    "caching.notifications.invalidate", "caching.notifications.ttl-with-list-changed"
)
async def test_a_change_that_is_told_makes_what_is_kept_old() -> None:
    server, asked = a_server()

    async def main() -> list[str]:
        async with Client(server) as client:
            await ask(client, 1)
            async with client.listen(tools=True, uris=["a://b"]) as changes:
                server.remove_tool("two")
                server.resource_updated("a://b")
                await anext(changes)
                await anext(changes)
            await ask(client, 1)
            return [tool.name for tool in await client.list_tools()]

    assert await main() == ["one"]
    assert asked == {"tools/list": 2, "resources/list": 1, "resources/read": 2}


@pytest.mark.parametrize("kept", ["tools/list", "resources/read"])
async def test_what_was_asked_before_a_change_was_told_is_not_kept(kept: str) -> None:
    server, asked = a_server()
    arrived, go_on = asyncio.Event(), asyncio.Event()

    @server.middleware
    async def wait(
        method: str, params: Any, ctx: Context, call: Callable[[Any, Context], Awaitable[Any]]
    ) -> Any:
        result = await call(params, ctx)
        if method == kept:
            arrived.set()
            await go_on.wait()
        return result

    async with Client(server) as client, client.listen(tools=True, uris=["a://b"]) as changes:
        asking = asyncio.ensure_future(ask(client, 1))
        await arrived.wait()
        server.remove_tool("two")
        server.resource_updated("a://b")
        await anext(changes)
        await anext(changes)
        go_on.set()
        await asking
        await ask(client, 1)
    assert asked[kept] == 2


@pytest.mark.requirement("caching.pages.independent", "caching.pages.refetch-expired-page")
async def test_each_page_is_kept_by_itself() -> None:
    server, asked = a_server(page_size=1)

    async with Client(server) as client:
        await client.list_tools()
        kept = client._cache._entries
        (first, _), second = [each for each in kept if each[0] == "tools/list"]
        del kept[second]
        assert first == "tools/list"
        assert len(await client.list_tools()) == 2
    assert asked["tools/list"] == 3


@pytest.mark.requirement("caching.pages.invalid-cursor-discards-all")
async def test_a_cursor_that_works_no_more_gives_up_all_pages_once() -> None:
    server, asked = a_server(page_size=1)

    async def main() -> list[str]:
        async with Client(server) as client:
            await client.list_tools()
            kept = client._cache._entries
            first, second = [each for each in kept if each[0] == "tools/list"]
            page = structs.replace(kept[first].result, next_cursor="bm9uZQ==")
            kept[first] = kept[first]._replace(result=page)
            del kept[second]
            return [tool.name for tool in await client.list_tools()]

    assert await main() == ["one", "two"]
    assert asked["tools/list"] == 5  # two, the refused one, two


@pytest.mark.requirement(
    "caching.key.method-and-params",
    "caching.input-required.not-cached",
    "caching.mrtr-retry.not-cached",
)
async def test_what_asks_for_input_and_what_was_got_by_it_is_not_kept() -> None:
    server, asked = a_server()

    @server.resource("ask://{name}")
    async def asking(name: str, ctx: Context) -> str:
        answer = await ctx.elicit("who?", {"type": "object", "properties": {}})
        return f"{name} {answer.action}"

    async def agreed(params: Any) -> t.ElicitResult:
        return t.ElicitResult(action="decline")

    async def main() -> list[str]:
        async with Client(server, on_elicit=agreed) as client:
            uris = ("ask://a", "ask://a", "ask://b", "a://b")
            pages = [await client.read_resource(uri) for uri in uris]
            return [getattr(contents[0], "text", "") for contents in pages]

    assert await main() == ["a decline", "a decline", "b decline", "b"]
    assert asked["resources/read"] == 7


async def test_a_cursor_that_never_works_is_an_error_after_one_more_try() -> None:
    server = Server("s", "1", ttl_ms=HOUR)

    @server.on("tools/list")
    async def list_tools(params: Any, ctx: Context) -> t.ListToolsResult:
        if isinstance(params.cursor, str):
            raise RpcError(-32602, "no such cursor")
        return t.ListToolsResult(
            tools=[], next_cursor="x", result_type="complete", ttl_ms=HOUR, cache_scope="private"
        )

    @server.tool
    async def one() -> str:
        return ""

    async with Client(server) as client:
        with pytest.raises(Exception, match="no such cursor"):
            await client.list_tools()


def test_the_oldest_is_given_up_first() -> None:
    cache = Cache(Limits(cached=2))
    result = t.ListToolsResult(tools=[], result_type="complete", ttl_ms=1000, cache_scope="public")
    for key in "abc":
        cache.put("tools/list", key, result, 0)
    assert [cache.get("tools/list", key, 0.5) is result for key in "abc"] == [False, True, True]
    assert cache.get("tools/list", "c", 1) is None


def test_an_update_below_a_resource_makes_it_old() -> None:
    cache = Cache(Limits())
    result = t.ReadResourceResult(
        contents=[], result_type="complete", ttl_ms=1000, cache_scope="public"
    )
    for uri in ("a://b", "a://bc"):
        cache.put("resources/read", uri, result, 0)
    params = t.ResourceUpdatedNotificationParams(uri="a://b/c")
    cache.drop_stale(Notified("notifications/resources/updated", params))
    assert cache.get("resources/read", "a://b", 0) is None
    assert cache.get("resources/read", "a://bc", 0) is result


def read(size: int, ttl_ms: int = 1000) -> t.ReadResourceResult:
    """The contents of a resource of about so many bytes."""
    text = t.TextResourceContents(uri="a://b", text="x" * size)
    return t.ReadResourceResult(
        contents=[text], result_type="complete", ttl_ms=ttl_ms, cache_scope="public"
    )


def kept(cache: Cache, now: float = 0.0) -> str:
    """The keys of one letter under which there is a fresh answer."""
    return "".join(key for key in "abcdef" if cache.get("resources/read", key, now) is not None)


def test_all_answers_together_have_a_size_and_those_not_used_for_longest_go_first() -> None:
    cache = Cache(Limits(cached_bytes=3500))
    before = held_by_process()
    for key in "abc":
        cache.put("resources/read", key, read(900), 0.0)
    assert kept(cache) == "abc"
    assert 2700 < OF_PROCESS.count - before <= 3500
    assert cache.get("resources/read", "a", 0.0) is not None
    cache.put("resources/read", "d", read(900), 0.0)
    assert kept(cache) == "acd"
    cache.put("resources/read", "e", read(2300), 0.0)
    assert kept(cache) == "de"
    assert OF_PROCESS.count - before <= 3500
    cache.clear()
    assert OF_PROCESS.count == before


def test_answers_that_are_no_longer_fresh_make_room_first() -> None:
    cache = Cache(Limits(cached_bytes=3500))
    cache.put("resources/read", "a", read(900), 0.0)
    cache.put("resources/read", "b", read(900, ttl_ms=10), 0.0)
    cache.put("resources/read", "c", read(900), 0.0)
    cache.put("resources/read", "d", read(900), 0.5)
    assert kept(cache, 0.5) == "acd"


def test_an_answer_over_the_limit_is_not_kept_and_pushes_no_other_out() -> None:
    cache = Cache(Limits(cached_bytes=3500))
    cache.put("resources/read", "a", read(900), 0.0)
    cache.put("resources/read", "b", read(4000), 0.0)
    assert kept(cache) == "a"


def test_a_page_of_a_list_counts_as_it_is_kept_parsed() -> None:
    cache, before = Cache(Limits()), held_by_process()
    page = t.ListToolsResult(tools=[], result_type="complete", ttl_ms=1000, cache_scope="public")
    cache.put("tools/list", None, page, 0.0)
    assert OF_PROCESS.count - before == 8 * len(t.encode(page))
    del cache
    assert held_by_process() == before


def test_where_others_need_the_room_the_answers_are_given_up() -> None:
    limits = Limits(process_bytes=held_by_process() + 40_000)
    cache, other = Cache(limits), HeldBytes()
    for key in "abc":
        cache.put("resources/read", key, read(6000), 0.0)
    assert other.make_room(limits, 24_000) == ""
    assert kept(cache) == "bc"
    other.change(24_000)
    assert other.make_room(limits, 24_000) == "Limits.process_bytes"
    assert kept(cache) == ""


async def test_a_client_keeps_no_more_bytes_than_the_limit() -> None:
    server, asked = a_server()

    async with Client(server, limits=Limits(cached_bytes=0)) as client:
        await ask(client)
    assert asked == {"tools/list": 2, "resources/list": 2, "resources/read": 2}


async def test_a_client_keeps_no_more_answers_than_the_limit() -> None:
    server, asked = a_server()

    async with Client(server, limits=Limits(cached=1)) as client:
        await ask(client)
    assert asked == {"tools/list": 2, "resources/list": 2, "resources/read": 2}
