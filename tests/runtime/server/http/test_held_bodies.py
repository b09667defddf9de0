"""Bodies and headers: counted while they are read or sent, and not kept once they are."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from typing import Any, Final

import pytest

from mcp_runtime import Server
from mcp_runtime.core.session.held import OF_PROCESS
from mcp_runtime.core.wire import error_codes
from mcp_runtime.limits import Limits
from tests.support.asgi_client import (
    POST,
    SHAKEN,
    Client,
    Response,
    initialize,
    mirrors,
    request,
    serving,
)
from tests.support.patience import until
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


async def test_what_has_arrived_of_a_body_counts_and_nothing_else() -> None:
    before = held_by_process()
    async with serving(Server("s", "1")) as client:
        begun = [_begin(client, SIZE // 2) for _ in range(3)]
        await until(lambda: OF_PROCESS.count == before + 3 * (SIZE // 2))
        for response in begun:
            await response.drop()
        assert OF_PROCESS.count == before


async def test_bodies_that_one_principal_does_not_send_leave_room_for_others() -> None:
    before = held_by_process()
    server = Server("s", "1", limits=Limits(held_bytes=2 * SIZE - 3))

    async def post(user: str) -> Response:
        return await client.ask("POST", "/mcp", _headers(), [b"x" * SIZE], user=user)

    async with serving(server, principal=lambda scope: scope["user"]) as client:
        begun = [_begin(client, SIZE - 1, user="eve") for _ in range(2)]
        await until(lambda: OF_PROCESS.count == before + 2 * SIZE - 2)
        refused = await post("eve")
        assert (refused.status, "Limits.held_bytes" in refused.error["message"]) == (503, True)
        assert (await post("ann")).status == 400
        nobody = [_begin(client, SIZE - 1, user="") for _ in range(2)]
        await until(lambda: OF_PROCESS.count == before + 4 * SIZE - 4)
        for response in begun + nobody:
            await response.drop()
        assert OF_PROCESS.count == before
        assert (await post("eve")).status == 400
        assert not client.app._service._held


def large(**limits: Any) -> Server:
    server = Server("s", "1", limits=Limits(**limits))

    @server.tool
    async def large() -> str:
        return "x" * SIZE

    return server


@pytest.mark.parametrize("era", ["per-request", "handshake"])
async def test_an_answer_that_the_client_does_not_read_counts_until_it_does(era: str) -> None:
    async with serving(large()) as client:
        peer = client if era == "per-request" else await client.session()
        before = held_by_process()
        unread = peer.call("large")
        unread.reads.clear()
        await unread.until(lambda response: response.body)
        assert SIZE - 100_000 < OF_PROCESS.count - before < SIZE + 1000
        unread.reads.set()
        await unread.until_over()
        assert OF_PROCESS.count == before
        assert len(unread.json["result"]["content"][0]["text"]) == SIZE


async def test_answers_of_a_session_that_are_not_read_count_for_it() -> None:
    async with serving(large(held_bytes=SIZE // 2)) as client:
        session, other = await client.session(), await client.session()
        unread = session.call("large")
        unread.reads.clear()
        await unread.until(lambda response: response.body)
        assert (await session.call("large").until_over()).error["code"] == error_codes.BUSY
        assert "result" in (await other.call("large").until_over()).json
        unread.reads.set()


@pytest.mark.parametrize("header", ["host", "origin", "accept", "x-forwarded-host"])
async def test_long_headers_are_not_kept(header: str) -> None:
    async with serving(Server("s", "1")) as client:
        tracemalloc.start()
        try:
            for number in range(4):
                value = f"application/json, text/event-stream, {'x' * SIZE}{number}"
                await client.ask("POST", "/mcp", {**POST, header: value}, [b"{}"])
            assert tracemalloc.get_traced_memory()[0] < 2 * SIZE
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("padded", ["id", "end"])
async def test_a_session_is_not_begun_by_a_body_over_the_limit(padded: str) -> None:
    async with serving(Server("s", "1", limits=Limits(initialize_bytes=1000))) as client:
        id, end = ("x" * 1000, b"") if padded == "id" else ("1", b" " * 1000)
        body = json.dumps({**initialize(SHAKEN[0]), "id": id}).encode()
        refused = await client.ask("POST", "/mcp", POST, [body + end])
        assert refused.status == 413
        assert "Limits.initialize_bytes" in refused.error["message"]
        await client.session()


def _begin(client: Client, arrived: int, **scope: Any) -> Any:
    return client.begin("POST", "/mcp", _headers(), [b"[" * arrived], ends=False, **scope)


def _headers() -> dict[str, str]:
    return {**POST, "content-length": str(SIZE)}
