"""Bodies of POST that real clients write: a byte order mark, nulls, half a character."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_runtime import Server
from mcp_runtime.stores.memory import MemoryStore
from tests.support.asgi_client import SHAKEN, initialize, mirrors, plain, request, serving

MARK = b"\xef\xbb\xbf"


def marked(message: Any) -> bytes:
    return MARK + json.dumps(message).encode()


def text_of(answer: Any) -> str:
    text: str = answer["result"]["content"][0]["text"]
    return text


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("revision", SHAKEN)
async def test_a_mark_before_each_body_of_a_session(revision: str, stored: bool) -> None:
    server = plain()
    async with serving(server, **({"store": MemoryStore()} if stored else {})) as client:
        begun = await client.post(marked(initialize(revision))).until_over()
        assert begun.status == 200
        headers = {"mcp-session-id": begun.headers["mcp-session-id"]}
        if revision != "2025-03-26":
            headers["mcp-protocol-version"] = revision
        opened = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": None}
        assert (await client.post(marked(opened), headers).until_over()).status == 202
        call = {"name": "echo", "arguments": {"text": "hi"}, "_meta": None}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        assert text_of((await client.post(marked(message), headers).until_over()).json) == "hi"
    assert server.forgiven["bom"] >= 3
    assert server.forgiven["null"] >= 1


async def test_a_mark_before_a_request_that_stands_for_itself() -> None:
    server = plain()
    async with serving(server) as client:
        said = request("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
        for headers in (mirrors(said), {**mirrors(said), "accept": "application/json"}):
            assert text_of((await client.post(marked(said), headers).until_over()).json) == "hi"
    assert server.forgiven == {"bom": 2}


@pytest.mark.parametrize("revision", SHAKEN)
async def test_half_a_character_in_a_body(revision: str) -> None:
    server = plain()
    async with serving(server) as client:
        session = await client.session(revision)
        body = (
            rb'{"jsonrpc":"2.0","id":9,"method":"tools/call",'
            rb'"params":{"name":"echo","arguments":{"text":"cut \ud83d"}}}'
        )
        assert text_of((await session.post(body).until_over()).json) == "cut \ufffd"
    assert server.forgiven == {"surrogate": 1}


@pytest.mark.parametrize("member", ["progressToken", "io.modelcontextprotocol/logLevel"])
async def test_null_members_of_the_meta_of_a_request(member: str) -> None:
    server = plain()
    async with serving(server) as client:
        meta = {"_meta": {member: None}}
        said = request("tools/call", {"name": "echo", "arguments": {"text": "hi"}, **meta})
        assert text_of((await client.post(said, mirrors(said)).until_over()).json) == "hi"
    assert server.forgiven["null"] >= 1


async def test_a_strict_server_refuses_them() -> None:
    server = Server("s", "1", strict=True)
    async with serving(server) as client:
        begun = await client.post(marked(initialize(SHAKEN[0]))).until_over()
        assert begun.status == 400
        nulled = initialize(SHAKEN[0])
        nulled["params"]["capabilities"] = {"sampling": None}
        assert (await client.post(nulled).until_over()).status == 400
    assert not server.forgiven
