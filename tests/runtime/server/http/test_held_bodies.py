"""Bodies of requests: counted while they are read, and not kept once they are."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any, Final

import pytest

from mcp_runtime import Server
from mcp_runtime.core.running import OF_PROCESS
from mcp_runtime.limits import Limits
from tests.support.asgi_client import POST, Client, mirrors, request, serving
from tests.support.session_pair import held_by_process

SIZE: Final = 3_000_000


def measuring(sizes: list[int]) -> Server:
    server = Server("s", "1")

    @server.tool
    async def measure(text: str) -> str:
        await asyncio.sleep(0)
        sizes.append(tracemalloc.get_traced_memory()[0])
        return str(len(text))

    return server


def parts(message: Any) -> list[bytes]:
    body = json.dumps(message).encode()
    return [body[: SIZE // 2], body[SIZE // 2 :]]


@pytest.mark.parametrize("era", ["per-request", "handshake"])
async def test_over_http_a_body_is_not_kept_once_it_is_read(era: str) -> None:
    sizes: list[int] = []
    call = {"name": "measure", "arguments": {"text": "x" * SIZE}}
    async with serving(measuring(sizes)) as client:
        if era == "handshake":
            session = await client.session()
            message: Any = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            headers = session.headers
        else:
            message = request("tools/call", call)
            headers = mirrors(message)
        body = parts(message)
        tracemalloc.start()
        try:
            await client.ask("POST", "/mcp", {**POST, **headers}, body)
        finally:
            tracemalloc.stop()
    assert len(sizes) == 1
    assert sizes[0] < 1.5 * SIZE


async def test_a_body_that_is_being_read_counts_for_the_process() -> None:
    before = held_by_process()
    server = Server("s", "1", limits=Limits(process_bytes=before + 2 * SIZE))
    async with serving(server) as client:
        begun = [_begin(client) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert OF_PROCESS.count == before + 3 * SIZE
        refused = await client.ask("POST", "/mcp", _headers(), [b"x" * SIZE])
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        for response in begun:
            await response.drop()
        assert OF_PROCESS.count == before


def _begin(client: Client) -> Any:
    return client.begin("POST", "/mcp", _headers(), [b"{"], ends=False)


def _headers() -> dict[str, str]:
    return {**POST, "content-length": str(SIZE)}
