"""Keys of `_meta` cross a bridge as they are; those of one connection are written anew."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from mcp_runtime import Client, Context, Server
from mcp_runtime.bridge import Bridge, Crossing
from mcp_runtime.revisions import ALL, revision
from mcp_runtime.revisions import latest as t
from mcp_runtime.transports.memory import pair
from tests.runtime.bridge.test_carried import Raw
from tests.support.raw_peer import RawPeer
from tests.support.session_pair import initialize, notification

CORE: Final = "io.modelcontextprotocol/"
OTHERS: Final[dict[str, Any]] = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "vendor=1",
    "baggage": "k=v",
    "com.acme/x": {"a": [1, 2.5, None]},
    "plain": None,
    f"{CORE}related-task": {"taskId": "1"},
    f"{CORE}unknown": 7,
}
"""Keys which say nothing of a connection."""
ENVELOPE: Final[dict[str, Any]] = {
    f"{CORE}protocolVersion": ALL[-1],
    f"{CORE}clientInfo": {"name": "host", "version": "1"},
    f"{CORE}clientCapabilities": {},
    f"{CORE}logLevel": "info",
}
SERVER_INFO: Final = f"{CORE}serverInfo"


class Talk:
    """A client of one revision, which has called a tool through a bridge, and the bridge's view."""

    def __init__(self) -> None:
        self.sent: dict[str, Any] = {}
        self.arrived: dict[str, Any] = {}
        self.answered: dict[str, Any] = {}
        self.seen: list[Crossing] = []

    async def call(self, client: str, server: str) -> Talk:
        raw = Raw(server, self._answer)
        bridge = Bridge(raw, revisions=[client], observe=self.seen.append)
        near, far = pair()
        async with bridge.server.running():
            connection = bridge.server.accept(far)
            peer = RawPeer(near, connection)
            self.sent = {**OTHERS, "progressToken": "mine"}
            if revision(client).era == "handshake":
                await peer.asks(0, "initialize", initialize(client))
                peer.say(notification("notifications/initialized"))
            else:
                self.sent |= ENVELOPE
            answer = await peer.asks(1, "tools/call", {"name": "add", "_meta": self.sent})
            self.answered = answer["result"]["_meta"]
            await near.close()
            await connection.wait_until_gone()
        return self

    def _answer(self, message: dict[str, Any]) -> bytes:
        self.arrived = message["params"]["_meta"]
        meta = {**OTHERS, SERVER_INFO: {"name": "o", "version": "2"}}
        result: dict[str, Any] = {"content": [], "_meta": meta}
        if ENVELOPE.keys() <= self.arrived.keys():
            result["resultType"] = "complete"
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()


@pytest.mark.parametrize("client", [ALL[0], ALL[-2], ALL[-1]])
async def test_each_key_crosses_but_for_those_of_a_connection(client: str) -> None:
    for server in (ALL[0], ALL[-2], ALL[-1]):
        talk = await Talk().call(client, server)
        arrived, is_modern = talk.arrived, revision(server).era == "per-request"
        assert {key: arrived[key] for key in OTHERS} == OTHERS
        assert arrived.keys() - OTHERS.keys() == {"progressToken", *(ENVELOPE if is_modern else ())}
        if client == server:
            assert arrived == talk.sent
        elif is_modern:
            assert arrived[f"{CORE}clientInfo"]["name"] == "mcp-bindgen bridge"

        assert {key: talk.answered[key] for key in OTHERS} == OTHERS
        others = talk.answered.keys() - OTHERS.keys()
        is_told = client == server or revision(client).era == "per-request"
        assert others == ({SERVER_INFO} if is_told else set())
        assert [loss for each in talk.seen for loss in each.losses] == []


@pytest.mark.parametrize(("client", "server"), [(ALL[0], ALL[-1]), (ALL[-1], ALL[0])])
async def test_questions_and_their_answers_keep_their_keys(client: str, server: str) -> None:
    def with_keys(kind: Any, model: Any) -> Any:
        return t.from_wire(kind, {**t.to_wire(model), "_meta": OTHERS})

    upstream, got = Server("upstream", "1", revisions=[server]), list[Any]()

    @upstream.tool
    async def ask(ctx: Context) -> None:
        question = t.CreateMessageRequestParams(messages=[], max_tokens=1)
        answer = await ctx.ask(
            "sampling/createMessage", with_keys(t.CreateMessageRequestParams, question)
        )
        got.append(t.to_wire(answer)["_meta"])

    async def reply(question: Any) -> t.CreateMessageResult:
        got.append(t.to_wire(question)["_meta"])
        text = t.TextContent(text="")
        answer = t.CreateMessageResult(role="user", content=text, model="m")
        return with_keys(t.CreateMessageResult, answer)

    bridge = Bridge(upstream, revisions=[client])
    async with Client(bridge.server, on_sample=reply) as opened:
        await opened.call_tool("ask")
    assert got == [OTHERS, OTHERS]


async def test_keys_of_a_request_that_reaches_no_server_as_it_is_are_listed_as_losses() -> None:
    server, seen = Server("s", "1"), list[Crossing]()
    server.tool(name="add")(lambda: 1)
    one, several = Bridge(server), Bridge({"a": server, "b": server}, observe=seen.append)
    for bridge in (one, several):
        async with Client(bridge.server) as client:
            meta = t.from_wire(t.RequestMetaObject, {**t.to_wire(client.meta()), **OTHERS})
            await client.request("tools/list", t.PaginatedRequestParams(meta=meta))
    (listed,) = [each for each in seen if each.method == "tools/list"]
    assert {loss.what for loss in listed.losses} == {f"`{key}` is left out" for key in OTHERS}
    assert {loss.path for loss in listed.losses} == {f'$._meta["{key}"]' for key in OTHERS}


async def test_notifications_lose_their_keys() -> None:
    """A row of docs/BRIDGE.md: nothing of them belongs to a report, which is of a request."""
    raw = Raw(ALL[-2], lambda message: b"")
    bridge = Bridge(raw, revisions=[ALL[-2]])
    near, far = pair()
    async with bridge.server.running():
        connection = bridge.server.accept(far)
        peer = RawPeer(near, connection)
        await peer.asks(0, "initialize", initialize(ALL[-2]))
        peer.say(notification("notifications/initialized"))
        peer.say(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {"name": "add", "_meta": {"progressToken": "mine"}},
                }
            ).encode()
        )
        while not raw.asked:
            await peer.settles()
        said = {"progressToken": "mine", "progress": 1, "_meta": OTHERS}
        raw.write({"method": "notifications/progress", "params": said})
        log = {"level": "error", "data": 1, "_meta": OTHERS}
        raw.write({"method": "notifications/message", "params": log})
        for method in ("notifications/progress", "notifications/message"):

            def is_it(message: Any, method: str = method) -> bool:
                return bool(message.get("method") == method)

            assert "_meta" not in (await peer.hears(is_it))["params"]
        await near.close()
        await connection.wait_until_gone()
