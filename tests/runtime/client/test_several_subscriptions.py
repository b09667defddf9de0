"""Subscriptions of one client beside each other."""

from __future__ import annotations

import asyncio

import pytest

from mcp_runtime import Client, Server
from mcp_runtime.revisions import ALL


@pytest.mark.parametrize("revision", ALL)
async def test_who_leaves_a_resource_leaves_it_to_those_who_still_listen(revision: str) -> None:
    server = Server("s", "1")

    @server.resource("note://{name}")
    def note(name: str) -> str:
        return name

    async with Client(server, revisions=[revision]) as client, asyncio.timeout(10):
        async with client.listen(uris=["note://a", "note://b"]) as outer:
            async with client.listen(uris=["note://a"]):
                pass
            server.resource_updated("note://a")
            assert (await anext(aiter(outer))).uri == "note://a"
        async with client.listen(uris=["note://b"]) as after:
            server.resource_updated("note://a")  # nobody listens any more
            server.resource_updated("note://b")
            assert (await anext(aiter(after))).uri == "note://b"


@pytest.mark.parametrize("revision", ALL)
async def test_changes_that_a_server_does_not_report_are_named(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s", "1")

    @server.tool
    def add(a: int) -> int:
        return a

    async with Client(server, revisions=[revision]) as client, asyncio.timeout(10):
        async with client.listen(tools=True) as one:
            assert one.refused == []
        assert "does not report" not in caplog.text
        async with client.listen(tools=True, prompts=True, resources=True) as other:
            assert other.refused == ["prompts", "resources"]
            assert other.served.tools_list_changed is True
        assert "does not report changes of its prompts and resources: nothing will" in caplog.text
