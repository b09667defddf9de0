"""A handler reads the headers of its request, in both eras; secrets stay out of logs."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime import types as t
from mcp_runtime.revisions import ALL, revision
from mcp_runtime.shared.request_headers import Headers
from tests.support.uvicorn_served import served


def serving() -> Server:
    server = Server("headers", "1")

    @server.tool
    async def region(ctx: Context) -> str:
        return ctx.headers.get("X-Region", "none")

    @server.tool
    def plain(ctx: Context) -> str:
        return ctx.headers.get("x-region", "none")

    return server


ERAS = [
    next(name for name in reversed(ALL) if revision(name).era == era)
    for era in ("handshake", "per-request")
]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["region", "plain"])
async def test_a_header_of_the_request_is_read(era: str, tool: str) -> None:
    async with served(serving().asgi()) as origin:
        options: Any = {"headers": {"X-Region": "eu"}, "revisions": [era]}
        async with Client.http(f"{origin}/mcp", **options) as client:
            result = t.to_wire(await client.call_tool(tool))
    assert result["content"][0]["text"] == "eu"


@pytest.mark.parametrize("era", ERAS)
async def test_other_transports_have_no_headers(era: str) -> None:
    async with Client(serving(), revisions=[era]) as client:
        result = t.to_wire(await client.call_tool("region"))
    assert result["content"][0]["text"] == "none"


def test_names_are_in_lower_case_and_any_case_finds_them() -> None:
    headers = Headers({"x-region": "eu", "authorization": "Bearer abc"})
    assert headers["X-Region"] == "eu"
    assert list(headers) == ["x-region", "authorization"]
    assert len(headers) == 2


def test_a_log_of_headers_shows_no_secret() -> None:
    headers = Headers({"authorization": "Bearer abc", "cookie": "a=b", "x-region": "eu"})
    assert repr(headers) == "Headers({'authorization': '***', 'cookie': '***', 'x-region': 'eu'})"
