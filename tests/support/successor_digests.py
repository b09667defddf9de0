"""Conversations on the day of a successor whose lists have digests.

python -m tests.support.successor_digests runs in a copy of the project that knows the successor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mcp_runtime import Client, Context, Server, types
from mcp_runtime.errors import RemoteError
from mcp_runtime.limits import Limits
from mcp_runtime.revisions import list_digest
from tests.support.successor import BEFORE
from tests.support.virtual_time import elapse, on_virtual_time

OLDER = "2025-11-25"
KNOWN = "io.modelcontextprotocol/knownDigests"
STALE = "io.modelcontextprotocol/staleDigests"
Asked = list[tuple[str, dict[str, str]]]


def made(ttl_ms: int) -> tuple[Server, Asked]:
    """A server with two tools, one on a page; each request, with the digests it came with."""
    server = Server("s", "1", ttl_ms=ttl_ms, limits=Limits(page_size=1), offers=["prompts"])
    asked: Asked = []

    @server.middleware
    async def note(
        method: str, params: Any, ctx: Context, call: Callable[[Any, Context], Awaitable[Any]]
    ) -> Any:
        asked.append((method, types.to_wire(params)["_meta"].get(KNOWN, {})))
        return await call(params, ctx)

    for name in ("one", "two"):
        server.tool(name=name)(_nothing)
    return server, asked


async def _nothing() -> str:
    """Do nothing."""
    return ""


async def stale_lists_are_named() -> None:
    """A call with the digest of a list that has changed is served, and the client lists again."""
    server, asked = made(ttl_ms=3_600_000)
    async with Client(server) as client:
        tools = await client.list_tools()
        now = list_digest(map(types.to_wire, tools))
        pages = [await client.request("tools/list", {}) for _ in range(2)]
        assert {page.digest for page in pages} == {now}
        empty = await client.request("prompts/list", {})
        assert empty.digest == list_digest(())
        await client.call_tool("two")
        assert asked[-1] == ("tools/call", {"tools/list": now})
        server.tool(name="three")(_nothing)
        await stale_in_result(client, server)
        before = len(asked)
        assert [tool.name for tool in await client.list_tools()] == ["one", "two", "three"]
        assert [method for method, _ in asked[before:]] == ["tools/list"] * 3
        result = await client.call_tool("three")
        assert STALE not in types.to_wire(result.meta)
        await stale_in_error(client)


async def stale_in_result(client: Client, server: Server) -> None:
    known = {"tools/list": "sha256:of another day", "skills/list": "x", "prompts/list": ""}
    meta: dict[str, Any] = {**types.to_wire(client.meta()), KNOWN: known}
    result = await client.request("tools/call", {"name": "one", "_meta": meta})
    assert result.meta.stale_digests == ["tools/list", "prompts/list"]


async def stale_in_error(client: Client) -> None:
    known = {"resources/list": "another"}
    meta: dict[str, Any] = {**types.to_wire(client.meta()), KNOWN: known}
    with pytest.raises(RemoteError) as caught:
        await client.request("prompts/get", {"name": "none", "_meta": meta})
    assert caught.value.data == {"staleDigests": ["resources/list"]}


async def pages_of_one_digest_stay_fresh() -> None:
    """A page that comes again with its digest makes the other pages fresh; another drops them."""
    server, asked = made(ttl_ms=30_000)
    async with Client(server) as client:
        await client.list_tools()
        await elapse(60)
        await client.list_tools()
        assert [method for method, _ in asked] == ["tools/list"] * 3, asked
        await elapse(60)
        server.tool(name="three")(_nothing)
        assert len(await client.list_tools()) == 3
        assert len(asked) == 6


async def an_older_peer_sees_no_digest(revision: str) -> None:
    server, asked = made(ttl_ms=0)
    wire: list[str] = []

    def note(way: str, data: bytes) -> None:
        wire.append(data.decode())

    async with Client(server, revisions=[revision], trace=note) as client:
        await client.list_tools()
        await client.call_tool("one")
    assert not any("igest" in text for text in wire), wire
    assert [known for _, known in asked if known] == []


async def main() -> None:
    await stale_lists_are_named()
    await pages_of_one_digest_stay_fresh()
    for revision in (BEFORE, OLDER):
        await an_older_peer_sees_no_digest(revision)


if __name__ == "__main__":
    with on_virtual_time() as loop, asyncio.Runner(loop_factory=loop) as runner:
        runner.run(main())
