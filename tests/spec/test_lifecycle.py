"""How a session begins and ends where there is a handshake."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_runtime import Context, Server
from mcp_runtime.errors import (
    BadAnswer,
    NoCommonRevision,
    NotOffered,
    NotOpen,
    RemoteError,
    TimedOut,
)
from mcp_runtime.limits import Limits
from tests.support.json_peers import HANDSHAKE, RawServer, connected, initialized

each_handshake = pytest.mark.parametrize("revision", HANDSHAKE)


def small() -> Server:
    server = Server("small", "1")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    return server


@pytest.mark.requirement("base.support.lifecycle")
@pytest.mark.requirement("lifecycle.init.response")
@pytest.mark.requirement("lifecycle.version.server-same")
@pytest.mark.requirement("lifecycle.init.first")
@each_handshake
async def test_a_server_answers_initialize_and_then_works_until_its_client_leaves(
    revision: str,
) -> None:
    async with connected(small(), revision, handshake=False) as client:
        before = await client.error("tools/list")
        assert before["code"] in (-32600, -32602)
        result = (await client.initialize())["result"]
        assert result["protocolVersion"] == revision
        assert result["serverInfo"]["name"] == "small"
        assert "tools" in result["capabilities"]
        client.notify("notifications/initialized")
        assert (await client.tool("add", {"a": 1, "b": 2}))["content"][0]["text"].find("3") >= 0
    assert client.is_over


@pytest.mark.requirement("lifecycle.init.first")
@pytest.mark.requirement("lifecycle.init.request")
@pytest.mark.requirement("lifecycle.init.initialized")
@pytest.mark.requirement("lifecycle.version.client-supported")
@each_handshake
async def test_a_client_begins_with_initialize_and_says_when_it_is_ready(revision: str) -> None:
    server = RawServer(revision, answers={"tools/list": {"tools": []}})
    async with server.client(name="who", version="7") as client:
        await client.list_tools()
    first, second, third, *_ = server.asked
    assert first["method"] == "initialize"
    assert first["params"]["protocolVersion"] == revision
    assert first["params"]["capabilities"] == {}
    assert first["params"]["clientInfo"] == {"name": "who", "version": "7"}
    assert second == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert third["method"] == "tools/list"


@pytest.mark.requirement("lifecycle.init.client-waits")
@each_handshake
async def test_a_client_asks_nothing_before_initialize_is_answered(revision: str) -> None:
    server = RawServer(revision, answers={"initialize": lambda m: None})
    client = server.client()
    entering = asyncio.create_task(client.__aenter__())
    await asyncio.sleep(0)
    hello = await _first(server)
    with pytest.raises(NotOpen):
        await client.list_tools()
    assert await server.line.quiet() == []
    assert [m["method"] for m in server.asked] == ["initialize"]
    server.line.answer(hello["id"], initialized(revision))
    await entering
    assert (await server.line.next("notifications/initialized"))["jsonrpc"] == "2.0"
    await client.__aexit__()


async def _first(server: RawServer) -> dict[str, Any]:
    while not server.asked:
        await asyncio.sleep(0)
    return server.asked[0]


@pytest.mark.requirement("lifecycle.init.server-waits")
@each_handshake
async def test_a_server_asks_nothing_before_the_client_is_ready(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def where(ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    async with connected(server, revision, {"roots": {}}, handshake=False) as client:
        await client.initialize()
        early = await client.tool("where")
        assert early["isError"] is True
        assert await client.quiet() == []
        client.notify("notifications/initialized")
        id = client.call("tools/call", {"name": "where"})
        asked = await client.next("roots/list")
        client.answer(asked["id"], {"roots": [{"uri": "file:///a"}]})
        assert "isError" not in (await client.response(id))["result"]


@pytest.mark.requirement("lifecycle.version.server-other")
@pytest.mark.requirement("lifecycle.version.server-latest")
@pytest.mark.parametrize("spoken", [HANDSHAKE[:n] for n in range(1, 4)] + [HANDSHAKE[::-1]])
@pytest.mark.parametrize("asked", ["1999-01-01", "2099-01-01", "", "x"])
async def test_a_server_that_does_not_speak_what_was_asked_offers_its_newest(
    spoken: tuple[str, ...], asked: str
) -> None:
    server = Server("s", "1", revisions=spoken)
    async with connected(server, asked, handshake=False) as client:
        result = (await client.initialize())["result"]
        assert result["protocolVersion"] == max(spoken)


@pytest.mark.requirement("lifecycle.version.client-latest")
@pytest.mark.parametrize("spoken", [HANDSHAKE[:n] for n in range(1, 5)])
async def test_a_client_offers_the_newest_that_it_speaks(spoken: tuple[str, ...]) -> None:
    server = RawServer(spoken[0])
    async with server.client(revisions=spoken) as client:
        assert client.revision == spoken[0]
    assert server.asked[0]["params"]["protocolVersion"] == max(spoken)


@pytest.mark.requirement("lifecycle.version.client-disconnects")
@pytest.mark.requirement("lifecycle.version.client-disconnects.schema")
@pytest.mark.requirement("initialize.unsupported-version.disconnect")
@pytest.mark.requirement("lifecycle.errors.version-mismatch")
@each_handshake
async def test_a_client_leaves_a_server_whose_revision_it_does_not_speak(revision: str) -> None:
    server = RawServer(revision, answers={"initialize": initialized("2099-01-01")})
    with pytest.raises(NoCommonRevision, match="2099-01-01"):
        await server.client().__aenter__()
    assert server.line.is_over
    assert [m["method"] for m in server.asked] == ["initialize"]


@pytest.mark.requirement("lifecycle.errors.version-mismatch")
async def test_a_server_names_its_revisions_to_a_client_of_another_era() -> None:
    async with connected(
        Server("s", "1", revisions=["2026-07-28"]), "2025-11-25", handshake=False
    ) as c:
        error = (await c.initialize())["error"]
    assert error["code"] == -32602
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


@pytest.mark.requirement("lifecycle.version.respect")
@pytest.mark.requirement("lifecycle.version.respect.advised")
async def test_a_server_keeps_to_the_agreed_revision() -> None:
    """What later revisions brought is not said to a client of an older one."""
    server = Server("s", "1", title="Shown", instructions="i")

    @server.tool(title="Add")
    async def add(a: int) -> int:
        return a

    newer = {
        "2024-11-05": {"title", "outputSchema", "annotations", "structuredContent"},
        "2025-03-26": {"title", "outputSchema", "structuredContent"},
        "2025-06-18": set[str](),
        "2025-11-25": set[str](),
    }
    for revision in HANDSHAKE:
        async with connected(server, revision) as client:
            tool = (await client.result("tools/list"))["tools"][0]
            result = await client.tool("add", {"a": 1})
            members = tool.keys() | result.keys() | client.result_of_initialize["serverInfo"].keys()
        assert not members & newer[revision]
        assert not result.keys() & {"resultType", "ttlMs", "_meta"}
        assert ("outputSchema" in members) == (revision >= "2025-06-18")


@pytest.mark.requirement("lifecycle.version.respect")
@pytest.mark.requirement("lifecycle.version.respect.advised")
@each_handshake
async def test_a_client_keeps_to_the_agreed_revision(revision: str) -> None:
    server = RawServer(revision, answers={"tools/list": {"tools": []}})
    async with server.client(revisions=HANDSHAKE) as client:
        await client.list_tools()
        with pytest.raises(NotOffered):
            await client.request("server/discover", client.meta())
    (listed,) = server.requests("tools/list")
    assert "_meta" not in listed.get("params", {})


@pytest.mark.requirement("lifecycle.capabilities.negotiated")
@pytest.mark.requirement("lifecycle.capabilities.negotiated.advised")
@pytest.mark.requirement("lifecycle.errors.capability-failure")
@each_handshake
async def test_neither_side_uses_what_was_not_negotiated(revision: str) -> None:
    raw = RawServer(revision, {})
    async with raw.client() as client:
        for ask in (client.list_tools, client.list_resources, client.list_prompts):
            with pytest.raises(NotOffered):
                await ask()
        assert [m["method"] for m in raw.asked] == ["initialize", "notifications/initialized"]
        for method in ("roots/list", "sampling/createMessage"):
            answer = await raw.line.request(method, {}, id=method)
            assert answer["error"]["code"] == -32601
    server = Server("s", "1")
    caught: list[NotOffered] = []

    @server.tool
    async def ask(ctx: Context) -> str:
        for asking in (ctx.roots(), ctx.sample("x", max_tokens=1)):
            try:
                await asking
            except NotOffered as error:
                caught.append(error)
        return "went on"

    async with connected(server, revision) as peer:
        assert (await peer.tool("ask"))["content"][0]["text"] == "went on"
        for method in ("resources/list", "prompts/list"):
            assert (await peer.error(method))["code"] == -32601
        assert await peer.quiet() == []
    assert [error.capability for error in caught] == ["roots", "sampling"]


@pytest.mark.requirement("lifecycle.init.not-batched")
async def test_initialize_is_refused_in_a_batch() -> None:
    async with connected(small(), "2025-03-26") as client:
        hello = {"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": {}}
        client.send([hello])
        (answer,) = await client.next(lambda m: isinstance(m, list))
        assert answer["error"]["code"] == -32600
    server = RawServer("2025-03-26")
    async with server.client():
        pass
    assert isinstance(server.asked[0], dict)


@pytest.mark.requirement("lifecycle.errors.init-timeout")
async def test_a_client_does_not_wait_for_initialize_for_ever() -> None:
    server = RawServer("2024-11-05", answers={"initialize": lambda m: None})
    with pytest.raises(TimedOut, match="initialize"):
        await server.client(limits=Limits(deadline=0.05)).__aenter__()
    assert server.line.is_over
    assert [m["method"] for m in server.asked] == ["initialize"]


@pytest.mark.requirement("lifecycle.errors.request-timeout")
@pytest.mark.parametrize("revision", HANDSHAKE[1:])
async def test_either_side_is_prepared_for_silence(revision: str) -> None:
    raw = RawServer(revision)
    async with raw.client(timeout=0.03) as client:
        with pytest.raises(TimedOut, match="tools/list"):
            await client.list_tools()
    server = Server("s", "1")

    @server.tool
    async def where(ctx: Context) -> str:
        try:
            await ctx.roots(timeout=0.03)
        except TimedOut:
            return "in time"
        return "answered"

    async with connected(server, revision, {"roots": {}}) as peer:
        assert (await peer.tool("where"))["content"][0]["text"] == "in time"


@pytest.mark.parametrize("answer", [{}, {"protocolVersion": 3}, {"protocolVersion": "2025-11-25"}])
async def test_a_client_refuses_an_answer_to_initialize_that_is_none(answer: Any) -> None:
    server = RawServer("2025-11-25", answers={"initialize": answer})
    with pytest.raises((BadAnswer, NoCommonRevision)):
        await server.client().__aenter__()


async def test_a_client_tells_why_initialize_was_refused() -> None:
    server = RawServer("2025-11-25", answers={"initialize": lambda m: None})
    entering = asyncio.create_task(server.client().__aenter__())
    hello = await _first(server)
    server.line.refuse(hello["id"], -32603, "broken")
    with pytest.raises(RemoteError, match="broken"):
        await entering
