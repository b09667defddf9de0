"""A second `initialize` on a stream begins anew: bridges serve several clients on one."""

from __future__ import annotations

from typing import Any, Final

import pytest

from mcp_runtime import Context, Server
from tests.support.asgi_client import serving
from tests.support.raw_peer import RawPeer, connected
from tests.support.session_pair import HANDSHAKE, answered, initialize, notification, request
from tests.support.virtual_time import elapse

NEWEST_SHAKEN: Final = HANDSHAKE[-1]
CLIENT: Final = {**initialize(NEWEST_SHAKEN), "capabilities": {"roots": {"listChanged": True}}}


def served(**options: Any) -> Server:
    server = Server("s", "1", offers=["resources"], **options)

    @server.tool
    async def hangs() -> str:
        await elapse(60)
        return ""

    @server.tool
    async def logs(ctx: Context) -> str:
        await ctx.debug("detail")
        return ctx.revision

    @server.tool
    async def roots(ctx: Context) -> list[str]:
        return [root.uri for root in await ctx.roots()]

    @server.resource("note:///a")
    def note() -> str:
        return ""

    return server


async def begins(peer: RawPeer, spoken: str = NEWEST_SHAKEN) -> Any:
    answer = await peer.asks("again", "initialize", {**CLIENT, "protocolVersion": spoken})
    peer.say(notification("notifications/initialized"))
    return answer["result"]


async def test_what_was_open_ends_and_is_never_answered() -> None:
    async with connected(served(), NEWEST_SHAKEN) as peer:
        peer.say(request(1, "tools/call", {"name": "hangs"}))
        peer.say(request("again", "tools/call", {"name": "hangs"}))
        await peer.settles()
        assert (await begins(peer))["protocolVersion"] == NEWEST_SHAKEN
        assert not peer.connection.session.running
        answer = await peer.asks(1, "tools/call", {"name": "logs"})
        assert answer["result"]["content"][0]["text"] == NEWEST_SHAKEN


@pytest.mark.parametrize("spoken", HANDSHAKE)
async def test_another_revision_is_agreed_on(spoken: str) -> None:
    async with connected(served(), NEWEST_SHAKEN) as peer:
        assert (await begins(peer, spoken))["protocolVersion"] == spoken
        answer = await peer.asks(1, "tools/call", {"name": "logs"})
        assert spoken in answer["result"]["content"][0]["text"]


async def test_log_level_and_subscriptions_are_those_of_the_new_client() -> None:
    server = served()
    async with connected(server, NEWEST_SHAKEN) as peer:
        await peer.asks(1, "logging/setLevel", {"level": "error"})
        await peer.asks(2, "resources/subscribe", {"uri": "note:///a"})
        await begins(peer)
        server.resource_updated("note:///a")
        await peer.asks(3, "tools/call", {"name": "logs"})
        methods = [message["method"] for message in peer.came if "method" in message]
        assert methods == ["notifications/message"]


async def test_the_new_client_is_asked_for_its_own_roots() -> None:
    async with connected(served(), None) as peer:
        for uri in ("file:///first", "file:///second"):
            await begins(peer)
            peer.say(request(1, "tools/call", {"name": "roots"}))
            asked = await peer.hears(lambda message: message.get("method") == "roots/list")
            peer.say(answered(asked["id"], {"roots": [{"uri": uri}]}))
            answer = await peer.hears(lambda message: message.get("id") == 1)
            assert answer["result"]["structuredContent"] == {"result": [uri]}


async def test_a_ping_to_the_client_before_does_not_end_the_stream() -> None:
    async with connected(served(ping_every=0.02), NEWEST_SHAKEN) as peer:
        await peer.hears(lambda message: message.get("method") == "ping")
        await begins(peer)
        asked = await peer.hears(lambda message: message.get("method") == "ping")
        peer.say(answered(asked["id"], {}))
        await peer.asks(1, "tools/list")


async def test_an_initialize_that_cannot_be_read_ends_nothing() -> None:
    async with connected(served(), NEWEST_SHAKEN) as peer:
        peer.say(request(1, "tools/call", {"name": "hangs"}))
        answer = await peer.asks(2, "initialize", {"protocolVersion": 7})
        assert answer["error"]["code"] == -32602
        assert list(peer.connection.session.running) == [1]


async def test_a_session_over_http_is_begun_once() -> None:
    async with serving(served()) as client:
        session = await client.session()
        refused = await session.request("initialize", CLIENT).until_over()
        assert b"initialized already" in refused.body
        assert (await session.call("logs").until_over()).status == 200
