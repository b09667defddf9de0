"""`run --http` writes a line for each request, without a secret."""

from __future__ import annotations

import re

import pytest

from mcp_bindgen.cli.run.request_log import log_requests
from mcp_runtime import Client, RpcError, Server, ToolError
from mcp_runtime.errors import RemoteError


def shop() -> Server:
    server = Server("shop", "1")

    @server.tool
    async def sell(item: str) -> str:
        if item == "nothing":
            raise ToolError("secret-text")
        if item == "all":
            raise RpcError(7, "secret-text")
        return item

    @server.resource("book://{id}")
    async def book(id: str) -> str:
        return id

    return server


async def test_each_request_is_a_line_without_its_arguments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = shop()
    log_requests(server)
    async with Client(server) as client:
        await client.call_tool("sell", {"item": "secret-argument"})
        await client.call_tool("sell", {"item": "nothing"})
        with pytest.raises(RemoteError):
            await client.call_tool("sell", {"item": "all"})
        with pytest.raises(RemoteError):
            await client.call_tool("x\x1b[2J" + "y" * 200)
        await client.read_resource("book://secret-uri")
    written = capsys.readouterr().err
    lines = [re.sub(r"\d+ ms$", "0 ms", line) for line in written.splitlines()]
    long = lines.pop(3)
    assert lines == [
        "tools/call sell: ok, 0 ms",
        "tools/call sell: tool error, 0 ms",
        "tools/call sell: error 7, 0 ms",
        "resources/read: ok, 0 ms",
    ]
    assert long.endswith("yyy: error -32602, 0 ms")
    assert len(long) < 120
    assert "\x1b" not in written
    assert "secret" not in written


def test_a_server_without_hooks_is_left_alone() -> None:
    log_requests(object())
