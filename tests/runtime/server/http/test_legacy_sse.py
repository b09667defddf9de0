"""HTTP+SSE of 2024-11-05 on its two routes, beside the endpoint of the others."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from mcp_runtime import Server
from mcp_runtime.limits import Limits
from mcp_runtime.server.decorators import dispatcher_of
from tests.support.asgi_client import (
    GET,
    Client,
    Response,
    initialize,
    plain,
    serving,
)
from tests.support.virtual_time import elapse


class Old:
    """A client of those days."""

    def __init__(self, client: Client, stream: Response, scope: dict[str, Any]) -> None:
        self.client, self.stream, self.scope = client, stream, scope
        self.place = urlsplit(stream.events[0].data.decode())

    @classmethod
    async def connect(cls, client: Client, path: str = "/sse", **scope: Any) -> Old:
        stream = await client.begin("GET", path, GET, **scope).until_events(1)
        return cls(client, stream, scope)

    async def post(self, message: Any, query: str | None = None, **scope: Any) -> Response:
        given = self.place.query if query is None else query
        merged = {**self.scope, **scope, "query": given}
        return await self.client.post(message, path=self.place.path, **merged).until_over()

    async def ask(self, method: str, params: dict[str, Any], id: int) -> Any:
        said = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        assert (await self.post(said)).status == 202
        await self.stream.until(lambda it: any(each.get("id") == id for each in said_by(it)))
        return next(each for each in said_by(self.stream) if each.get("id") == id)

    async def open(self) -> None:
        assert (await self.post(initialize("2024-11-05"))).status == 202
        await self.stream.until_events(2)
        await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})


def said_by(stream: Response) -> list[Any]:
    return [json.loads(event.data) for event in stream.events if event.name == "message"]


@pytest.mark.requirement(
    "transport.http.compat.server-keeps-sse",
    "transport.sse.endpoint-event",
    "transport.sse.many-clients",
    "transport.sse.message-event",
    "transport.sse.two-endpoints",
)
async def test_each_client_has_a_stream_and_a_place_of_its_own_to_post_to() -> None:
    async with serving() as client:
        clients = [await Old.connect(client) for _ in range(3)]
        assert len({old.place.query for old in clients}) == 3
        for number, old in enumerate(clients):
            assert old.stream.events[0].name == "endpoint"
            assert old.stream.headers["x-accel-buffering"] == "no"
            await old.open()
            call = {"name": "echo", "arguments": {"text": str(number)}}
            answer = await old.ask("tools/call", call, 7)
            assert answer["result"]["content"] == [{"type": "text", "text": str(number)}]
        assert [len(said_by(old.stream)) for old in clients] == [2, 2, 2]


async def test_a_client_that_goes_takes_its_session_along() -> None:
    server, seen = Server("slow", "1"), []

    @server.tool
    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async with serving(server) as client:
        old = await Old.connect(client)
        await old.open()
        call = {"method": "tools/call", "params": {"name": "slow"}}
        await old.post({"jsonrpc": "2.0", "id": 1, **call})
        await asyncio.sleep(0)
        await old.stream.drop()
        assert (client.app.sse_sessions, dispatcher_of(server).connections) == ({}, set())
        assert (await old.post(initialize("2024-11-05"))).status == 404
        await elapse(0.01)
        assert seen == ["cancelled"]


@pytest.mark.parametrize("query", ["", "session_id=", "session_id=x", "session=x", "%ff", "&&="])
async def test_a_message_for_no_session_is_not_found(query: str) -> None:
    async with serving() as client:
        old = await Old.connect(client)
        assert (await old.post(initialize("2024-11-05"), query)).status == 404


async def test_a_stranger_does_not_find_the_session_of_another() -> None:
    async with serving(principal=lambda scope: str(scope.get("user"))) as client:
        old = await Old.connect(client, user="ann")
        assert (await old.post(initialize("2024-11-05"), user="bob")).status == 404
        await old.open()


async def test_what_is_no_message_is_a_bad_request() -> None:
    async with serving() as client:
        old = await Old.connect(client)
        for body in (b"{", b"7", b'{"jsonrpc":"2.0","result":{}}'):
            assert (await old.post(body)).status == 400
        await old.open()


async def test_changes_and_comments_come_on_the_one_stream() -> None:
    server = plain(limits=Limits(keep_alive=0.02))
    async with serving(server) as client:
        old = await Old.connect(client)
        await old.open()
        server.remove_tool("count")
        await old.stream.until_events(3)
        assert said_by(old.stream)[-1]["method"] == "notifications/tools/list_changed"
        await old.stream.until(lambda stream: stream.sent.count(b":\n\n") > 2)


async def test_the_place_to_post_to_lies_where_the_application_is_mounted() -> None:
    async with serving(sse="/events", messages="/in") as client:
        old = await Old.connect(client, "/below/events", root_path="/below")
        assert old.place.path == "/below/in"
        await old.open()
