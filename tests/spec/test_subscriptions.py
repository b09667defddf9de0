"""Hearing of changes: streams of the newest revision, notifications of the older ones."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcp_runtime import Client, Server
from mcp_runtime.client.subscription import Change
from mcp_runtime.errors import BadAnswer, Disconnected, NoCommonRevision, RemoteError
from mcp_runtime.server.decorators import dispatcher_of
from tests.support.json_peers import (
    HANDSHAKE,
    NEWEST,
    RawServer,
    connected,
)
from tests.support.virtual_time import elapse

TAG = "io.modelcontextprotocol/subscriptionId"
KINDS = ("tools", "prompts", "resources")


LISTENS = (("resources/subscribe", "resources/unsubscribe"), ("subscriptions/listen",))
"""What a client sends for a subscription that is refused: in the handshake era, and after it."""


def refusal(id: Any, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": message}}


async def listened(client: Client) -> None:
    async with client.listen(uris=["a://b"]):
        pass


async def nothing() -> str:
    return ""


def full() -> Server:
    server = Server("s", "1")
    server.tool(nothing)
    server.prompt(nothing)
    server.resource("a://b")(nothing)
    server.resource("a://c")(nothing)
    return server


def change(server: Server, kind: str, name: str) -> None:
    """Adds one, which changes its list."""
    if kind == "tools":
        server.add_tool(nothing, name=name)
    elif kind == "prompts":
        server.add_prompt(nothing, name=name)
    else:
        server.resource(f"x://{name}")(nothing)


def wanted(*kinds: str, uris: tuple[str, ...] = ()) -> dict[str, Any]:
    lists: dict[str, Any] = {f"{kind}ListChanged": True for kind in kinds}
    return {"notifications": lists | ({"resourceSubscriptions": list(uris)} if uris else {})}


@pytest.mark.requirement("subscriptions.ack.first")
@pytest.mark.requirement("subscriptions.ack.nothing-before")
@pytest.mark.requirement("subscriptions.id.tagged")
@pytest.mark.parametrize("id", [7, "seven", 0, ""])
async def test_a_stream_begins_with_its_acknowledgment_and_all_on_it_is_tagged(id: Any) -> None:
    server = full()
    async with connected(server, NEWEST) as client:
        client.call("subscriptions/listen", wanted(*KINDS, uris=("a://b",)), id=id)
        for kind in KINDS:
            change(server, kind, "early")
        await client.next("notifications/subscriptions/acknowledged")
        for kind in KINDS:
            change(server, kind, "late")
        server.resource_updated("a://b")
        messages = await client.quiet()
        assert {m["method"] for m in messages} >= {f"notifications/{k}/list_changed" for k in KINDS}
        for message in messages:
            assert message["params"]["_meta"][TAG] == id
            assert type(message["params"]["_meta"][TAG]) is type(id)


@pytest.mark.requirement("subscriptions.ack.first")
@pytest.mark.requirement("subscriptions.ack.nothing-before")
async def test_nothing_comes_before_the_acknowledgment() -> None:
    server = full()
    async with connected(server, NEWEST) as client:
        client.call("subscriptions/listen", wanted("tools"), id=1)
        for n in range(20):
            change(server, "tools", f"t{n}")
            await asyncio.sleep(0)
        messages = await client.quiet()
        assert messages[0]["method"] == "notifications/subscriptions/acknowledged"
        assert messages[0]["params"]["_meta"][TAG] == 1


@pytest.mark.requirement("subscriptions.filter.opt-in")
@pytest.mark.requirement("tools.list-changed.notify-listeners")
@pytest.mark.requirement("prompts.list-changed.notify-listeners")
@pytest.mark.requirement("resources.list-changed.notify-listeners")
@pytest.mark.parametrize("kind", KINDS)
async def test_a_stream_has_what_its_filter_asks_for_and_nothing_else(kind: str) -> None:
    server = full()
    async with connected(server, NEWEST) as client:
        client.call("subscriptions/listen", wanted(kind), id="a")
        client.call("subscriptions/listen", wanted(uris=("a://b",)), id="b")
        client.call("subscriptions/listen", {"notifications": {}}, id="c")
        for _ in range(3):
            await client.next("notifications/subscriptions/acknowledged")
        for each in KINDS:
            change(server, each, "new")
        server.resource_updated("a://b")
        server.resource_updated("a://c")
        await client.tool("new")
        tagged = [(m["method"], m["params"]["_meta"][TAG]) for m in await client.quiet()]
        assert tagged == [
            (f"notifications/{kind}/list_changed", "a"),
            ("notifications/resources/updated", "b"),
        ]


async def test_no_one_hears_without_asking() -> None:
    server = full()
    async with connected(server, NEWEST) as client:
        await client.result("tools/list")
        for kind in KINDS:
            change(server, kind, "new")
        server.resource_updated("a://b")
        assert await client.quiet() == []


@pytest.mark.requirement("tools.list-changed.notify")
@pytest.mark.requirement("prompts.list-changed.notify")
@pytest.mark.requirement("resources.list-changed.notify")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_a_server_that_declares_it_tells_of_changed_lists(revision: str, kind: str) -> None:
    server = full()
    async with connected(server, revision) as client:
        assert client.result_of_initialize["capabilities"][kind]["listChanged"] is True
        change(server, kind, "new")
        notification = await client.next(f"notifications/{kind}/list_changed")
        assert "id" not in notification
        if kind == "tools":
            server.remove_tool("new")
        elif kind == "prompts":
            server.remove_prompt("new")
        else:
            server.remove_resource("x://new")
        await client.next(f"notifications/{kind}/list_changed")
        assert await client.quiet() == []


@pytest.mark.requirement("subscriptions.end.graceful-result")
@pytest.mark.requirement("cancel.server.listen-teardown")
async def test_a_server_that_ends_a_stream_answers_its_request() -> None:
    server = full()
    async with connected(server, NEWEST) as client:
        id = client.call("subscriptions/listen", wanted("tools"), id="sub")
        await client.next("notifications/subscriptions/acknowledged")
        (connection,) = dispatcher_of(server).connections
        connection.close_gracefully()
        messages = await client.quiet()
        assert {m.get("method", "result") for m in messages} == {
            "notifications/cancelled",
            "result",
        }
        (answer,) = (m for m in messages if "result" in m)
        assert answer["id"] == id
        assert answer["result"]["resultType"] == "complete"
        change(server, "tools", "after")
        assert await client.quiet() == messages


# ---- a client that listens


def listening(*, acknowledged: dict[str, Any] | None = None) -> RawServer:
    capabilities = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}
    server = RawServer(NEWEST, capabilities)

    def acknowledge(message: dict[str, Any]) -> None:
        asked = message["params"]["notifications"]
        params = {"notifications": asked if acknowledged is None else acknowledged}
        params["_meta"] = {TAG: message["id"]}
        server.line.notify("notifications/subscriptions/acknowledged", params)

    server.answers["subscriptions/listen"] = acknowledge
    return server


@pytest.mark.requirement("subscriptions.id.correlate")
async def test_a_client_finds_the_subscription_of_a_notification_by_its_id() -> None:
    server = listening()
    method = "notifications/resources/updated"
    watched = {"uris": ["a://b"]}
    async with (
        server.client() as client,
        client.listen(**watched) as one,
        client.listen(**watched) as two,
    ):
        first, second = server.requests("subscriptions/listen")
        server.line.notify(method, {"uri": "a://b", "_meta": {TAG: first["id"]}})
        assert await asyncio.wait_for(anext(one), 1) == Change("resource", "a://b")
        for meta in ({TAG: "unknown"}, {TAG: str(second["id"])}, {}):
            server.line.notify(method, {"uri": "a://b", "_meta": meta})
        server.line.notify(method, {"uri": "a://b"})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(two), 0.03)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(one), 0.03)


@pytest.mark.requirement("subscriptions.ack.checked")
async def test_a_client_learns_what_of_its_wishes_is_served() -> None:
    server = listening(acknowledged={"toolsListChanged": True})
    async with (
        server.client() as client,
        client.listen(tools=True, prompts=True, uris=["a://b"]) as changes,
    ):
        assert changes.served.tools_list_changed is True
        assert changes.served.prompts_list_changed is not True
        assert not changes.served.resource_subscriptions
        (asked,) = server.requests("subscriptions/listen")
        meta = {TAG: asked["id"]}
        server.line.notify("notifications/tools/list_changed", {"_meta": meta})
        assert await asyncio.wait_for(anext(changes), 1) == Change("tools")


async def test_a_stream_that_the_server_ends_is_over() -> None:
    server = listening()
    async with server.client() as client, client.listen(tools=True) as changes:
        (asked,) = server.requests("subscriptions/listen")
        meta = {TAG: asked["id"]}
        server.line.answer(asked["id"], {"resultType": "complete", "_meta": meta})
        assert [change async for change in changes] == []


@pytest.mark.parametrize("revision", [*HANDSHAKE, NEWEST])
async def test_a_subscription_that_is_refused_is_an_error_at_once(revision: str) -> None:
    server = RawServer(revision, {"tools": {}, "resources": {"subscribe": True}})
    async with server.client() as client:
        listening = asyncio.create_task(client.listen(uris=["a://b"]).__aenter__())
        for method in LISTENS[revision == NEWEST]:
            asked = await server.line.next(method)
            server.line.send(refusal(asked["id"], f"{method} refused"))
        with pytest.raises(RemoteError, match=f"^{LISTENS[revision == NEWEST][0]} refused"):
            await listening


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_a_server_that_refuses_the_end_of_a_subscription_is_left_alone(revision: str) -> None:
    capabilities = {"resources": {"subscribe": True}}
    server = RawServer(revision, capabilities, {"resources/subscribe": {}})
    async with server.client() as client:
        leaving = asyncio.create_task(listened(client))
        asked = await server.line.next("resources/unsubscribe")
        server.line.send(refusal(asked["id"], "refused"))
        await leaving


@pytest.mark.parametrize("revision", [*HANDSHAKE, NEWEST])
async def test_a_restarted_server_that_refuses_a_subscription_ends_it(revision: str) -> None:
    server = RawServer(revision, {"tools": {}, "resources": {"subscribe": True}})
    method = LISTENS[revision == NEWEST][0]
    async with server.client(restarts=3) as client:
        subscription = client.listen(uris=["a://b"])
        opening = asyncio.create_task(subscription.__aenter__())
        asked = await server.line.next(method)
        if revision == NEWEST:
            meta, acknowledged = {TAG: asked["id"]}, "notifications/subscriptions/acknowledged"
            wishes = asked["params"]["notifications"]
            server.line.notify(acknowledged, {"_meta": meta, "notifications": wishes})
        else:
            server.line.answer(asked["id"], {})
        changes = await opening
        await server.line.wire.close()
        while len(server.lines) < 2:
            await elapse(0.001)
        asked = await server.line.next(method)
        server.line.send(refusal(asked["id"], "refused"))
        with pytest.raises(RemoteError, match="refused"):
            await asyncio.wait_for(anext(changes), 5)
        assert client.is_connected
        leaving = asyncio.create_task(subscription.__aexit__(None, None, None))
        if revision != NEWEST:
            asked = await server.line.next("resources/unsubscribe")
            server.line.answer(asked["id"], {})
        await leaving
    assert len(server.lines) == 2


async def test_a_restart_that_fails_leaves_the_subscriptions_to_the_next() -> None:
    server = listening()
    async with server.client(restarts=3) as client, client.listen(tools=True) as changes:
        good = server.answers.pop("server/discover")
        server.answers["server/discover"] = {"capabilities": "none"}
        await server.line.wire.close()
        with pytest.raises((BadAnswer, NoCommonRevision)):
            await client.list_tools()
        server.answers["server/discover"] = good
        asking = asyncio.create_task(client.list_tools())
        assert await asyncio.wait_for(anext(changes), 5) == Change("tools")
        assert len(server.requests("subscriptions/listen")) == 2
        asking.cancel()


@pytest.mark.requirement("subscriptions.reopen-stdio")
@pytest.mark.requirement("transport.stdio.crash.restart")
async def test_a_client_that_connects_again_listens_again() -> None:
    server = listening()
    async with (
        server.client(restarts=2) as client,
        client.listen(tools=True, uris=["a://b"]) as changes,
    ):
        for crash in range(2):
            await server.line.wire.close()
            while len(server.requests("subscriptions/listen")) < crash + 2:
                await elapse(0.001)
            missed = [await asyncio.wait_for(anext(changes), 1) for _ in range(2)]
            assert missed == [Change("tools"), Change("resource", "a://b")]
        asked = server.requests("subscriptions/listen")
        wishes = [m["params"]["notifications"] for m in asked]
        assert wishes[0] == wishes[1] == wishes[2]
        meta = {TAG: asked[-1]["id"]}
        await server.line.quiet()
        server.line.notify("notifications/tools/list_changed", {"_meta": meta})
        assert await asyncio.wait_for(anext(changes), 1) == Change("tools")
        await server.line.wire.close()
        with pytest.raises(Disconnected):
            await asyncio.wait_for(anext(changes), 1)
    assert len(server.lines) == 3


@pytest.mark.requirement("transport.stdio.crash.restart")
@pytest.mark.parametrize("revision", [*HANDSHAKE, NEWEST])
async def test_a_server_that_is_gone_is_started_anew_for_the_next_request(revision: str) -> None:
    listed: dict[str, Any] = {"tools": []}
    if revision == NEWEST:
        listed |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    server = RawServer(revision, answers={"tools/list": listed})
    async with server.client(restarts=1) as client:
        assert await client.list_tools() == []
        calling = asyncio.create_task(client.call_tool("x"))
        await server.line.next("tools/call")
        await server.line.wire.close()
        with pytest.raises(Disconnected):
            await calling
        both = await asyncio.gather(client.list_tools(), client.list_tools())
        assert both == [[], []]
        assert len(server.lines) == 2
        await server.line.wire.close()
        await elapse(0.01)
        with pytest.raises(Exception, match=r"closed|gone"):
            await client.list_tools()
    hello = "server/discover" if revision == NEWEST else "initialize"
    assert len(server.requests(hello)) == 2


@pytest.mark.parametrize("revision", [*HANDSHAKE, NEWEST])
async def test_a_restart_that_fails_is_tried_again(revision: str) -> None:
    server = RawServer(revision)
    (hello,) = server.answers
    async with server.client(restarts=3) as client:
        good = server.answers.pop(hello)
        await server.line.wire.close()
        await elapse(0.01)
        cancelled = asyncio.create_task(client.call_tool("x"))
        while len(server.lines) < 2:
            await elapse(0.001)
        await server.line.next(hello)
        cancelled.cancel()
        await asyncio.wait([cancelled])
        server.answers[hello] = {"capabilities": "none"}
        with pytest.raises((BadAnswer, NoCommonRevision)):
            await client.call_tool("x")
        server.answers |= {hello: good, "tools/call": {"content": [], "resultType": "complete"}}
        assert (await client.call_tool("x")).content == []
    assert len(server.lines) == 4


async def test_a_client_without_restarts_starts_nothing() -> None:
    server = listening()
    async with server.client() as client, client.listen(tools=True) as changes:
        await server.line.wire.close()
        with pytest.raises(Disconnected):
            await asyncio.wait_for(anext(changes), 1)
    assert len(server.lines) == 1
