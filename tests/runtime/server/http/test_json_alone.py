"""A client that accepts JSON alone is answered where the answer is one message."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.limits import Limits
from mcp_runtime.server.http.asgi.cross_origin import cross_origin
from mcp_runtime.server.http.uvicorn import address
from tests.support.asgi_client import LATEST, SHAKEN, Client, Response, initialize, plain, serving
from tests.support.virtual_time import elapse

ALONE = {"accept": "application/json"}


async def asked(client: Client, revision: str, name: str, **arguments: Any) -> Response:
    """The response to the call of a tool."""
    if revision == LATEST:
        return await client.call(name, arguments, ALONE).until_over()
    session = await client.session(revision, capabilities={"elicitation": {"form": {}}})
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    return await session.post(body, ALONE).until_over()


@pytest.mark.parametrize("revision", [LATEST, *SHAKEN])
@pytest.mark.parametrize(
    "accept", ["application/json", "application/*", "*/*;q=0, application/json"]
)
async def test_a_plain_answer_is_json(revision: str, accept: str) -> None:
    async with serving() as client:
        response = await asked(client, revision, "echo", text="hi")
        assert response.status == 200
        assert response.headers["content-type"] == "application/json"
        assert response.json["result"]["content"][0]["text"] == "hi"
        if revision != LATEST:
            begun = await client.post(initialize(revision), {"accept": accept}).until_over()
            assert begun.status == 200


@pytest.mark.parametrize("revision", [LATEST, *SHAKEN])
async def test_progress_and_logs_are_left_out(revision: str) -> None:
    async with serving() as client:
        response = await asked(client, revision, "count", to=3)
        assert (response.status, response.is_stream) == (200, False)
        assert response.json["result"]["content"][0]["text"] == "counted"


@pytest.mark.parametrize("revision", [LATEST, *SHAKEN])
async def test_an_answer_that_takes_long_is_waited_for(revision: str) -> None:
    server = Server("slow", "1", limits=Limits(keep_alive=0.02))

    @server.tool
    async def slow() -> str:
        await elapse(0.2)
        return "done"

    async with serving(server) as client:
        response = await asked(client, revision, "slow")
        assert response.json["result"]["content"][0]["text"] == "done"


async def test_a_batch_is_answered_by_one_array() -> None:
    async with serving() as client:
        session = await client.session("2025-03-26")
        batch = [
            {
                "jsonrpc": "2.0",
                "id": n,
                "method": "tools/call",
                "params": {"name": "count", "arguments": {"to": 2}},
            }
            for n in (1, 2)
        ]
        response = await session.post(batch, ALONE).until_over()
        assert response.status == 200
        assert [one["id"] for one in sorted(response.json, key=lambda one: one["id"])] == [1, 2]


@dataclass
class Form:
    go_on: bool


def asking() -> tuple[Server, list[BaseException]]:
    """A server whose tool asks the client, and how that ended."""
    server, ended = Server("asking", "1"), list[BaseException]()

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            await ctx.elicit("Go on?", Form)
        except BaseException as error:
            ended.append(error)
            raise
        return "asked"

    return server, ended


@pytest.mark.parametrize("revision", SHAKEN[:2])
async def test_a_question_of_the_server_needs_a_stream(revision: str) -> None:
    server, ended = asking()
    async with serving(server) as client:
        response = await asked(client, revision, "ask")
        assert response.status == 406
        assert "text/event-stream" in response.error["message"]
        assert "elicitation/create" in response.error["message"]
        for _ in range(20):
            await asyncio.sleep(0)
        assert [type(one) for one in ended] == [asyncio.CancelledError], "nothing waits on"


async def test_in_the_newest_revision_a_question_is_the_answer() -> None:
    server, _ = asking()
    async with serving(server) as client:
        capabilities = {"elicitation": {"form": {}}}
        response = await client.call("ask", {}, ALONE, capabilities=capabilities).until_over()
        assert response.status == 200
        assert response.json["result"]["resultType"] == "input_required"


async def test_a_subscription_needs_a_stream() -> None:
    async with serving() as client:
        params = {"notifications": {"toolsListChanged": True}}
        response = await client.request("subscriptions/listen", params, ALONE).until_over()
        assert response.status == 406
        assert "text/event-stream" in response.error["message"]


async def test_a_client_that_leaves_is_not_waited_for() -> None:
    server, gone = Server("slow", "1"), asyncio.Event()

    @server.tool
    async def slow() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        return ""

    async with serving(server) as client:
        response = client.call("slow", {}, ALONE)
        for _ in range(20):
            await asyncio.sleep(0)
        await response.drop()
        await gone.wait()


# ---- pages on the loopback

PREFLIGHT = {
    "host": "localhost",
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,mcp-protocol-version",
}


@pytest.mark.parametrize(
    "origin",
    [
        *("http://localhost:3000", "http://127.0.0.1:6274", "https://localhost", "http://[::1]:1"),
        *(
            "https://evil.example",
            "http://localhost.evil.example",
            "null",
            "file://",
            "http://10.0.0.1",
        ),
    ],
)
async def test_a_preflight_is_answered_as_the_post_is(origin: str) -> None:
    app = plain().asgi()
    client = Client(cross_origin(app, app.origins, app.hosts))
    before = await client.ask("OPTIONS", "/mcp", {**PREFLIGHT, "origin": origin})
    post = await client.post(initialize(SHAKEN[0]), {"origin": origin}).until_over()
    assert post.status in (200, 403)
    assert (before.status == 204) == (post.status == 200)
    allowed = [one.headers.get("access-control-allow-origin") for one in (before, post)]
    assert allowed == [origin if post.status == 200 else None] * 2


# ---- where to serve


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("http://127.0.0.1:1", ("127.0.0.1", 1)),
        ("HTTP://localhost:8000/", ("localhost", 8000)),
        ("http://[::1]:80", ("::1", 80)),
        ("http://:0", ("127.0.0.1", 0)),
    ],
)
def test_the_url_of_a_place_is_the_place(text: str, parsed: tuple[str, int]) -> None:
    assert address(text) == parsed


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *((f"0.0.0.0:{port}", "from 0 to 65535") for port in (65_536, 99_999, "9" * 5000)),
        ("https://127.0.0.1:1", "a proxy in front"),
        ("http://127.0.0.1:1/mcp", "HOST:PORT"),
        ("ftp://127.0.0.1:1", "HOST:PORT"),
        ("http://127.0.0.1", "HOST:PORT"),
        ("127.0.0.1:-1", "HOST:PORT"),
        ("127.0.0.1:٣", "HOST:PORT"),
        ("a b:1", "HOST:PORT"),
    ],
)
def test_what_is_no_place_says_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match="is not an address") as caught:
        address(text)
    assert why in str(caught.value)
