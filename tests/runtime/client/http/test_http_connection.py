"""A session's id goes with each request; a session that the server has forgotten is opened anew."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from mcp_runtime.errors import BadAnswer, BadStatus, Disconnected, NotOpen, PeerError
from mcp_runtime.limits import Limits
from tests.support.json_peers import since
from tests.support.raw_http_server import Asked, Reply, Server, answer
from tests.support.virtual_time import now

RESUMABLE = since("2025-03-26")[:-1]


NO_SESSION = "Bad Request: No valid session ID provided"
UNKNOWN = {
    "of the specification": (404, b""),
    "of mcp before 1.26": (400, NO_SESSION.encode()),
    "of servers after the example of the TypeScript SDK": (
        400,
        {"jsonrpc": "2.0", "error": {"code": -32000, "message": NO_SESSION}, "id": None},
    ),
    "of such servers to a GET": (400, b"Invalid or missing session ID"),
}
"""How servers refuse a session that they do not know."""


class Forgetful(Server):
    """Refuses a session that it does not know."""

    def __init__(
        self, revision: str = "2025-11-25", *sessions: str, unknown: tuple[int, Any] = (404, b"")
    ) -> None:
        super().__init__(revision, *(sessions or ("s1", "s2", "s3")))
        self.unknown = unknown
        self.acts |= {"tools/call": self._known, "notifications/roots/list_changed": self._told}

    async def _known(self, asked: Asked, reply: Reply) -> None:
        if asked.headers.get("mcp-session-id") == self.live:
            await reply.send(200, answer(asked, self.called()))
        else:
            await reply.send(*self.unknown)

    async def _told(self, asked: Asked, reply: Reply) -> None:
        await reply.send(202 if asked.headers.get("mcp-session-id") == self.live else 404)


@pytest.mark.requirement("transport.http.session.sent-back", "transport.http.session.assigned")
@pytest.mark.requirement(
    "transport.http.session.delete", "transport.http.version-header.after-init"
)
@pytest.mark.requirement("transport.http.version-header.negotiated")
@pytest.mark.requirement("transport.http.session.delete-refused")
@pytest.mark.parametrize("revision", RESUMABLE)
async def test_all_that_follows_names_the_session_and_the_revision(revision: str) -> None:
    server = Server(revision, "s-1!~")
    async with server.running(), server.client() as client:
        await client.call_tool("t")
    assert server.whats() == [
        "initialize",
        "notifications/initialized",
        "GET",
        "tools/call",
        "DELETE",
    ]
    assert "mcp-session-id" not in server.asked[0].headers
    version = None if revision == "2025-03-26" else revision
    for asked in server.asked[1:]:
        assert asked.headers["mcp-session-id"] == "s-1!~"
        assert asked.headers.get("mcp-protocol-version") == version


@pytest.mark.requirement("transport.http.session.id-guarded")
async def test_a_session_id_is_told_to_its_server_alone(caplog: pytest.LogCaptureFixture) -> None:
    other = Server("2025-11-25")
    server = Server("2025-11-25", "secret-id")

    async def elsewhere(asked: Asked, reply: Reply) -> None:
        await reply.send(307, Location=other.url)

    async def broken(asked: Asked, reply: Reply) -> None:
        await reply.send(500, asked.headers["mcp-session-id"].encode(), "text/plain")

    async with other.running(), server.running(), server.client() as client:
        with caplog.at_level(logging.DEBUG, "mcp_runtime"):
            for act in (elsewhere, broken):
                server.acts["tools/call"] = act
                with pytest.raises(PeerError) as raised:
                    await client.call_tool("t")
                assert "secret-id" not in f"{raised.value!r} {raised.value}"
    assert other.asked == []
    assert "secret-id" not in caplog.text
    assert "secret-id" not in repr(client)


async def test_without_a_session_none_is_named_and_none_is_ended() -> None:
    server = Server("2025-11-25")
    async with server.running(), server.client() as client:
        await client.call_tool("t")
    assert "DELETE" not in server.whats()
    assert all("mcp-session-id" not in asked.headers for asked in server.asked)


@pytest.mark.requirement("transport.http.session.restart")
@pytest.mark.requirement("transport.http.session.ended-by-server")
@pytest.mark.parametrize("revision", RESUMABLE)
async def test_a_forgotten_session_is_opened_anew_and_the_call_repeated(revision: str) -> None:
    server = Forgetful(revision)
    async with server.running(), server.client() as client:
        server.live = "forgotten"
        await client.call_tool("t")
        await client.call_tool("t")
    first, again, _ = server.of("tools/call")
    assert first.body == again.body
    assert [asked.headers["mcp-session-id"] for asked in (first, again)] == ["s1", "s2"]
    assert ["mcp-session-id" in asked.headers for asked in server.of("initialize")] == [False] * 2


@pytest.mark.parametrize("unknown", UNKNOWN)
async def test_a_forgotten_session_is_known_by_each_way_to_refuse_it(unknown: str) -> None:
    server = Forgetful(unknown=UNKNOWN[unknown])
    async with server.running(), server.client() as client:
        server.live = "forgotten"
        await client.call_tool("t")
    assert len(server.of("initialize")) == 2


@pytest.mark.parametrize("text", ["Bad Request", "the session ID belongs to another event"])
async def test_another_bad_request_opens_no_session_anew(text: str) -> None:
    server = Forgetful(unknown=(400, text.encode()))
    async with server.running(), server.client() as client:
        server.live = "other"
        with pytest.raises(BadStatus, match=f"HTTP 400 .*{text}"):
            await client.call_tool("t")
    assert len(server.of("initialize")) == 1


async def test_calls_that_lose_a_session_together_open_one() -> None:
    server = Forgetful()
    async with server.running(), server.client() as client:
        server.live = "forgotten"
        await asyncio.gather(*(client.call_tool("t") for _ in range(10)))
    assert len(server.of("initialize")) == 2


async def test_a_call_is_repeated_once_only() -> None:
    server = Forgetful()

    async def never(asked: Asked, reply: Reply) -> None:
        await reply.send(404)

    server.acts["tools/call"] = never
    async with server.running(), server.client() as client:
        with pytest.raises(BadStatus, match="tools/call: HTTP 404"):
            await client.call_tool("t")
    assert len(server.of("tools/call")) == 2
    assert len(server.of("initialize")) == 2


async def test_a_message_without_an_answer_is_repeated_too() -> None:
    server = Forgetful()
    async with server.running(), server.client(roots=[]) as client:
        server.live = "forgotten"
        await client.roots_changed()
    posts = server.of("notifications/roots/list_changed")
    assert [asked.headers["mcp-session-id"] for asked in posts] == ["s1", "s2"]


async def test_a_session_that_cannot_be_opened_fails_the_call_and_the_next_tries_again() -> None:
    server = Forgetful()
    async with server.running(), server.client() as client:
        server.live, opens = "forgotten", server.acts["initialize"]

        async def broken(asked: Asked, reply: Reply) -> None:
            await reply.send(503)

        server.acts["initialize"] = broken
        with pytest.raises(BadStatus, match="HTTP 503"):
            await client.call_tool("t")
        server.acts["initialize"] = opens
        await client.call_tool("t")


async def test_a_new_session_is_told_what_the_last_one_was_told() -> None:
    server = Forgetful()

    async def acknowledge(asked: Asked, reply: Reply) -> None:
        await reply.send(200, answer(asked, {}))

    for method in ("logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
        server.acts[method] = acknowledge
    async with (
        server.running(),
        server.client(log_level="error") as client,
        client.listen(uris=["file:///a"]),
    ):
        server.live = "forgotten"
        await client.call_tool("t")
        level = await server.until("logging/setLevel", 2)
        watch = await server.until("resources/subscribe", 2)
    assert level.message["params"] == {"level": "error"}
    assert watch.message["params"]["uri"] == "file:///a"
    assert {asked.headers["mcp-session-id"] for asked in (level, watch)} == {"s2"}


@pytest.mark.parametrize("unknown", UNKNOWN)
async def test_the_end_of_a_session_on_its_own_stream_opens_another(unknown: str) -> None:
    server = Forgetful(unknown=UNKNOWN[unknown])

    async def own(asked: Asked, reply: Reply) -> None:
        if asked.headers["mcp-session-id"] != server.live:
            await reply.send(*server.unknown)
            return
        await reply.stream()
        if len(server.of("GET")) == 1:
            server.live = "forgotten"
            await reply.end()
        else:
            await reply.gone.wait()

    server.acts["GET"] = own
    async with server.running(), server.client(limits=Limits(resume_wait=0.02)):
        await server.until("initialize", 2)
        await server.until("GET", 3)
    assert server.of("GET")[-1].headers["mcp-session-id"] == "s2"


@pytest.mark.requirement("transport.http.session.id-charset")
@pytest.mark.parametrize("id", ["a b", "\u00e4", "a\tb"])
async def test_a_session_id_of_other_characters_is_no_id(id: str) -> None:
    async with Server("2025-11-25", id).running() as server:
        with pytest.raises(BadAnswer, match="a session id with other characters"):
            async with server.client():
                pass


async def test_a_server_that_does_not_take_the_end_of_a_session_does_not_hold_us() -> None:
    server = Server("2025-11-25", "s1")
    del server.acts["DELETE"]
    async with server.running():
        started = now()
        async with server.client(limits=Limits(close_wait=0.1)):
            pass
        assert now() - started < 5  # not the deadline of 30 s
    assert server.whats()[-1] == "DELETE"


async def test_connections_are_closed_although_the_end_of_their_client_is_cancelled() -> None:
    server = Server("2025-11-25", "s1")
    del server.acts["DELETE"]
    async with server.running():
        client = server.client()
        await client.__aenter__()
        await asyncio.gather(*(client.call_tool("t") for _ in range(3)))
        ending = asyncio.create_task(client.__aexit__(None, None, None))
        await server.until("DELETE")
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        await server.until_left()


async def test_a_call_that_opens_a_session_anew_ends_when_the_client_is_closed() -> None:
    server = Forgetful()

    async def broken(asked: Asked, reply: Reply) -> None:
        await reply.send(503)

    async with server.running():
        async with server.client() as client:
            server.live, server.acts["initialize"] = "forgotten", broken
            with pytest.raises(BadStatus):
                await client.call_tool("t")
            del server.acts["initialize"]
            calling = asyncio.ensure_future(client.call_tool("t"))
            await server.until("initialize", 3)
        with pytest.raises(NotOpen, match="the client was closed"):
            await asyncio.wait_for(calling, 1)


async def test_a_client_whose_own_stream_opens_a_session_anew_can_be_closed_at_once() -> None:
    server = Forgetful()

    async def own(asked: Asked, reply: Reply) -> None:
        if server.of("GET")[1:]:
            await reply.send(404)
            return
        await reply.stream()
        await reply.event(id="e1", retry=0)
        await reply.end()

    server.acts["GET"] = own
    async with server.running():
        client = server.client()
        await client.__aenter__()
        del server.acts["initialize"]
        await server.until("initialize", 2)
        await asyncio.wait_for(client.__aexit__(None, None, None), 1)


async def test_a_call_that_may_have_been_served_is_not_repeated() -> None:
    server = Forgetful()

    async def vanished(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.event(id="e1", retry=0)
        await reply.end()

    async def own(asked: Asked, reply: Reply) -> None:
        await reply.send(404 if "last-event-id" in asked.headers else 405)

    server.acts |= {"tools/call": vanished, "GET": own}
    async with server.running(), server.client() as client:
        with pytest.raises(Disconnected):
            await client.call_tool("t")
    assert len(server.of("tools/call")) == 1
