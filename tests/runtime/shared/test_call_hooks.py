"""Hooks around calls and sessions see each of them, and change nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

import pytest

from mcp_runtime import Client, Context, Server, types
from mcp_runtime.errors import RemoteError, RpcError
from mcp_runtime.revisions import ALL, UNSET
from mcp_runtime.shared.calls import Call, Link
from tests.support.patience import until
from tests.support.uvicorn_served import served

ERAS = (ALL[-2], ALL[-1])
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def library() -> Server:
    server = Server("library", "1")

    @server.tool
    async def seen(ctx: Context) -> list[str]:
        return [str(ctx.meta.get("traceparent")), str(ctx.headers.get("traceparent"))]

    @server.tool
    async def name(ctx: Context) -> str:
        answer = await ctx.elicit("Who are you?", Name)
        return "nobody" if answer.content is None else answer.content["name"]

    return server


Name = {"type": "object", "properties": {"name": {"type": "string"}}}


async def ada(question: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


class Record:
    """The calls and sessions that one side saw, as they were at their ends."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.open: list[Link] = []
        self.over: list[Link] = []

    @contextmanager
    def call(self, call: Call) -> Generator[None]:
        assert (call.result, call.error) == (UNSET, None)
        if call.direction == "sent":
            call.meta = call.headers = {"traceparent": PARENT}
        yield
        self.calls.append(call)

    @contextmanager
    def session(self, link: Link) -> Generator[None]:
        self.open.append(link)
        yield
        self.over.append(link)

    def summary(self) -> list[tuple[str, str, str]]:
        return [(call.link.role, call.direction, call.method) for call in self.calls]


@asynccontextmanager
async def connected(
    revision: str, way: str, record: Record, server: Server
) -> AsyncGenerator[Client]:
    options: dict[str, Any] = {"revisions": [revision], "on_elicit": ada}
    if way == "memory":
        client = Client(server, **options)
        client.on_call(record.call)
        client.on_session(record.session)
        async with client:
            yield client
        return
    async with served(server.asgi()) as origin:
        client = Client.http(f"{origin}/mcp", **options)
        client.on_call(record.call)
        client.on_session(record.session)
        async with client:
            yield client


@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize("revision", ERAS)
async def test_a_client_sees_its_calls_and_those_of_the_server(revision: str, way: str) -> None:
    record, server = Record(), library()
    async with connected(revision, way, record, server) as client:
        seen = (await client.call_tool("seen")).data
        assert seen == [PARENT, PARENT if way == "http" else "None"]
        assert (await client.call_tool("name")).text == "Ada"
        with pytest.raises(RemoteError):
            await client.call_tool("absent")
        assert record.over == []
    asked = [("client", "received", "elicitation/create")] if revision == ERAS[0] else []
    once_more = [("client", "sent", "tools/call")] if revision == ERAS[1] else []
    call = ("client", "sent", "tools/call")
    assert record.summary() == [call, *asked, call, *once_more, call]
    first, last = record.calls[0], record.calls[-1]
    assert (first.params["name"], first.result.is_error, first.error) == ("seen", UNSET, None)
    assert isinstance(last.error, RemoteError)
    assert last.id not in (None, first.id)
    (link,) = record.open
    assert record.over == [link]
    assert (link.role, link.revision) == ("client", revision)
    assert link.transport == ("http" if way == "http" else "stream")
    has_session = way == "http" and revision == ERAS[0]
    assert bool(first.link.session_id) == has_session


async def test_a_hook_that_fails_is_logged_and_the_call_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @contextmanager
    def at_its_end(call: Call) -> Generator[None]:
        yield
        raise RuntimeError("at its end")

    def at_its_start(call: Call) -> AbstractContextManager[None]:
        raise RuntimeError("at its start")

    record = Record()
    async with Client(library()) as client:
        for hook in (at_its_start, at_its_end, record.call):
            assert client.on_call(hook) is hook
        await client.call_tool("seen")
    assert record.summary() == [("client", "sent", "tools/call")]
    logged = [str(entry.exc_info[1]) for entry in caplog.records if entry.exc_info]
    assert logged == ["at its start", "at its end"]


@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize("revision", ERAS)
async def test_a_server_sees_calls_that_no_handler_sees(revision: str, way: str) -> None:
    seen, server = Record(), library()
    server.on_call(seen.call)
    server.on_session(seen.session)
    async with connected(revision, way, Record(), server) as client:
        await client.call_tool("seen")
        await client.call_tool("name")
        with pytest.raises(RemoteError):
            await client.request("tools/call", {"name": "seen", "arguments": 5})
    is_handshake = revision == ERAS[0]
    call = ("server", "received", "tools/call")
    asked = [("server", "sent", "elicitation/create")] if is_handshake else [call]
    assert seen.summary() == [call, *asked, call, call]
    first, last = seen.calls[0], seen.calls[-1]
    assert first.params["_meta"]["traceparent"] == PARENT
    assert first.headers.get("traceparent") == (PARENT if way == "http" else None)
    assert (first.link.role, first.link.revision, first.error) == ("server", revision, None)
    assert (last.params["arguments"], last.result) == (5, UNSET)
    assert isinstance(last.error, RpcError)
    await until(lambda: seen.over == seen.open)
    has_session = is_handshake  # the other era has none
    assert [link.transport for link in seen.open] == ([first.link.transport] if has_session else [])
