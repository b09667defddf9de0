"""Answers that real servers write over HTTP: a byte order mark, half a character, a bad tool."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_runtime.errors import PeerError
from mcp_runtime.revisions import ALL
from tests.support.json_peers import since
from tests.support.raw_http_server import Asked, Reply, Server, answer, tool

MARK = b"\xef\xbb\xbf"
OVER_HTTP = since("2025-03-26")


class Marking(Server):
    """Writes a mark before each JSON body, or before the events of the streams of calls."""

    def __init__(self, revision: str, *, streams: bool) -> None:
        super().__init__(revision)
        self.acts["tools/call"] = self._stream if streams else self._marked

    async def _marked(self, asked: Asked, reply: Reply) -> None:
        await reply.send(200, MARK + json.dumps(answer(asked, self.called())).encode())

    async def _stream(self, asked: Asked, reply: Reply) -> None:
        await reply.stream()
        data = json.dumps(answer(asked, self.called()))
        await reply.raw(MARK + f"data: {data}\n\n".encode())
        await reply.end()


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("revision", OVER_HTTP)
async def test_a_mark_before_a_body_and_before_a_stream(revision: str, streams: bool) -> None:
    async with Marking(revision, streams=streams).running() as server, server.client() as client:
        result = await client.call_tool("t")
        assert result.content[0].text == "done"  # type: ignore[union-attr]
        assert client.forgiven == ({} if streams else {"bom": 1})


class Halving(Server):
    def called(self, text: str = "done") -> dict[str, Any]:
        return super().called("cut \ud83d")


@pytest.mark.parametrize("revision", OVER_HTTP)
async def test_half_a_character_of_a_text(revision: str) -> None:
    async with Halving(revision).running() as server, server.client() as client:
        result = await client.call_tool("t")
        assert result.content[0].text == "cut \ufffd"  # type: ignore[union-attr]
        assert client.forgiven == {"surrogate": 1}
    async with Halving(revision).running() as server, server.client(strict=True) as client:
        with pytest.raises(PeerError):
            await client.call_tool("t")


class Paging(Server):
    """Two pages of tools, each with one that is invalid; the answers are fresh for an hour."""

    async def _list(self, asked: Asked, reply: Reply) -> None:
        cursor = asked.message.get("params", {}).get("cursor")
        page = "2" if cursor else "1"
        tools = [tool(f"good{page}"), {"name": f"bad{page}", "inputSchema": {}}]
        more = {} if cursor else {"nextCursor": "2"}
        hints = {"ttlMs": 3_600_000, "cacheScope": "private"} if self.revision == ALL[-1] else {}
        await reply.send(200, answer(asked, self.result(tools=tools, **more, **hints)))


@pytest.mark.parametrize("revision", OVER_HTTP)
async def test_the_good_tools_of_all_pages_are_listed_and_the_bad_ones_named(
    revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Paging(revision).running() as server, server.client() as client:
        for _ in range(2):  # the second time a cache may answer
            assert [each.name for each in await client.list_tools()] == ["good1", "good2"]
        named = [(problem.method, problem.name) for problem in client.problems]
        assert named == [("tools/list", "bad1"), ("tools/list", "bad2")]
        warnings = [each for each in caplog.records if each.levelname == "WARNING"]
        assert [each.name for each in warnings] == ["mcp_runtime.tolerances"] * 2
        assert "'bad1'" in warnings[0].getMessage()
    async with Paging(revision).running() as server, server.client(strict=["item"]) as client:
        with pytest.raises(PeerError):
            await client.list_tools()
