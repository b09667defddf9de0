"""What a server speaks is found out as the pages say, and kept."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from mcp_runtime import Client
from mcp_runtime.errors import (
    BadAnswer,
    BadStatus,
    Disconnected,
    NoCommonRevision,
    NotReached,
    RemoteError,
    TimedOut,
    Unauthorized,
)
from mcp_runtime.limits import Limits
from tests.support.json_peers import ALL, HANDSHAKE, NEWEST, discovered, initialized
from tests.support.raw_http_server import Act, Asked, RawHttp, Reply, Server, answer, error
from tests.support.virtual_time import elapse, now


def status(code: int, body: Any = b"", kind: str = "application/json") -> Act:
    async def act(asked: Asked, reply: Reply) -> None:
        await reply.send(code, body, kind)

    return act


@pytest.mark.requirement("transport.http.compat.post-first", "transport.http.session.none")
@pytest.mark.requirement("transport.http.version-header.every-post")
@pytest.mark.requirement("transport.http.post.accept", "transport.http.headers.on-each-post")
async def test_a_modern_server_is_asked_and_has_no_session() -> None:
    async with Server().running() as server, server.client(revisions=ALL) as client:
        await client.call_tool("t")
        assert client.revision == NEWEST
    assert server.whats() == ["server/discover", "tools/call"]
    for asked in server.asked:
        assert asked.headers["mcp-protocol-version"] == NEWEST
        assert asked.headers["mcp-method"] == asked.what
        assert asked.headers["accept"] == "application/json, text/event-stream"
        assert asked.headers["content-type"] == "application/json"
        assert "mcp-session-id" not in asked.headers
    assert server.asked[1].headers["mcp-name"] == "t"


@pytest.mark.requirement("transport.http.compat.legacy-400", "transport.http.compat.read-400")
@pytest.mark.parametrize(
    "refusal",
    [
        status(400),
        status(400, b"<html>", "text/html"),
        status(400, error(None, -32600)),
        status(400, error("server-error", -32600)),
        status(404),
        status(404, error(1, -32601)),
        status(405),
        status(406),
        status(422, b"{}"),
        status(500, b"Internal Server Error", "text/plain"),
        status(200, error(1, -32601)),
        status(200, b"<html>", "text/html"),
    ],
)
async def test_what_no_modern_server_says_leads_to_a_handshake(refusal: Act) -> None:
    server = Server("2025-11-25")
    server.acts["server/discover"] = refusal
    async with server.running(), server.client(revisions=ALL) as client:
        assert client.revision == "2025-11-25"
        await client.call_tool("t")
    assert server.whats()[:3] == ["server/discover", "initialize", "notifications/initialized"]
    first = server.of("initialize")[0]
    assert {"mcp-method", "mcp-protocol-version"}.isdisjoint(first.headers)


@pytest.mark.requirement("transport.http.compat.modern-400")
async def test_a_modern_error_keeps_the_client_modern() -> None:
    refused = [error(1, -32022, supported=[NEWEST], requested=NEWEST)]

    async def discover(asked: Asked, reply: Reply) -> None:
        if refused:
            await reply.send(400, refused.pop())
        else:
            await reply.send(200, answer(asked, discovered({})))

    server = Server()
    server.acts["server/discover"] = discover
    async with server.running(), server.client(revisions=ALL) as client:
        assert client.revision == NEWEST
    assert server.whats() == ["server/discover"] * 2


async def test_a_modern_error_without_a_common_revision_ends_it() -> None:
    server = Server()
    server.acts["server/discover"] = status(400, error(None, -32022, supported=["2030-01-01"]))
    async with server.running():
        with pytest.raises(NoCommonRevision, match="2030-01-01"):
            async with server.client(revisions=ALL):
                pass
    assert server.whats() == ["server/discover"]


@pytest.mark.parametrize("code", [401, 403, 408, 429, 502, 503, 504])
async def test_a_status_that_says_nothing_of_an_era_ends_it(code: int) -> None:
    server = Server()
    server.acts["server/discover"] = status(code)
    async with server.running():
        with pytest.raises(BadStatus, match=f"server/discover: HTTP {code}") as raised:
            async with server.client(revisions=ALL):
                pass
    assert raised.value.status == code
    assert server.whats() == ["server/discover"]


@pytest.mark.requirement("transport.http.origin-forbidden-body")
async def test_a_refusal_with_a_reason_is_told() -> None:
    server = Server("2025-11-25")
    server.acts["initialize"] = status(403, error(None, -32000))
    async with server.running():
        with pytest.raises(RemoteError, match="-32000"):
            async with server.client():
                pass


async def test_a_client_of_handshakes_alone_begins_with_one() -> None:
    async with Server("2025-06-18").running() as server, server.client(revisions=HANDSHAKE):
        pass
    assert server.whats()[0] == "initialize"


# ---- the probe


async def drops(asked: Asked, reply: Reply) -> None:
    reply.drop()


async def breaks_off(asked: Asked, reply: Reply) -> None:
    await reply.stream()
    reply.drop()


async def says_nothing(asked: Asked, reply: Reply) -> None:
    await reply.stream()
    await reply.end()


async def waits(asked: Asked, reply: Reply) -> None:
    await reply.gone.wait()


SPOILED: Final[dict[str, Act]] = {
    "a closed connection": drops,
    "a stream that breaks": breaks_off,
    "a stream without an answer": says_nothing,
    "silence": waits,
    "null": status(200, b"null"),
    "HTML": status(200, b"<html>", "text/html"),
    "nothing": status(202),
    "-32602": status(400, error(1, -32602)),
    "-32602 with 200": status(200, error(1, -32602)),
    "-32022 without versions": status(400, error(1, -32022)),
    "-32601": status(404, error(None, -32601)),
}


@pytest.mark.parametrize("act", SPOILED.values(), ids=SPOILED)
async def test_a_server_over_http_that_does_not_survive_the_probe_shakes_hands(
    act: Act,
) -> None:
    server = Server("2025-11-25")
    server.acts["server/discover"] = act
    limits = Limits(probe=0.3)
    async with server.running(), server.client(revisions=ALL, limits=limits) as client:
        assert client.revision == "2025-11-25"
        await client.call_tool("t")
    assert server.whats()[:3] == ["server/discover", "initialize", "notifications/initialized"]


@pytest.mark.parametrize("act", [drops, waits], ids=["a closed connection", "silence"])
async def test_a_server_of_http_and_sse_that_does_not_survive_the_probe_is_found(
    act: Act,
) -> None:
    server = Old()
    server.acts["server/discover"] = act
    async with server.running(), server.client(limits=Limits(probe=0.3)) as client:
        assert client.revision == "2024-11-05"
        await client.call_tool("t")


@pytest.mark.parametrize("options", [{"revisions": HANDSHAKE}, {"era": "handshake"}])
async def test_a_url_with_which_a_client_shook_hands_unasked_is_asked_by_the_next(
    options: dict[str, Any],
) -> None:
    async with Server("2025-11-25").running() as server:
        for each in (options, {}):
            async with Client.http(server.url, **each) as client:
                await client.call_tool("t")
    assert server.whats()[-1] == "tools/call"
    assert len(server.of("server/discover")) == 1


async def test_what_a_url_speaks_is_remembered_for_the_process() -> None:
    async with Server("2025-11-25").running() as server:
        for query in ("", "?token=1"):
            async with Client.http(server.url + query) as client:
                await client.call_tool("t")
    assert len(server.of("server/discover")) == 1
    async with Old().running() as old:
        for _ in range(2):
            async with old.client() as client:
                await client.call_tool("t")
    assert len(old.of("server/discover")) == 1


async def test_with_the_handshake_era_no_url_is_probed() -> None:
    server = Server("2025-11-25")
    async with server.running(), server.client(revisions=ALL, era="handshake"):
        pass
    async with Old().running() as old, old.client(era="handshake") as client:
        await client.call_tool("t")
    assert [*server.of("server/discover"), *old.of("server/discover")] == []


async def test_a_port_where_nobody_listens_is_asked_once() -> None:
    server = Server()
    await server.start()
    await server.kill()
    with pytest.raises(NotReached):
        async with server.client(revisions=ALL):
            pass


async def test_the_timeout_is_for_opening_over_http_too() -> None:
    server = Server("2025-11-25")
    for what in ("server/discover", "initialize"):
        del server.acts[what]
    async with server.running():
        started = now()
        with pytest.raises(TimedOut, match="initialize"):
            async with server.client(revisions=ALL, timeout=1):
                pass
        assert now() - started < 4


# ---- HTTP+SSE


class Old(RawHttp):
    """A server of HTTP+SSE: GET opens the stream, POST to its endpoint has no answer of its own."""

    def __init__(self, endpoint: str = "/messages?s=1") -> None:
        super().__init__()
        self.endpoint = endpoint
        self.stream: Reply | None = None
        self.opened = 0
        self.acts |= {"GET": self._open, "initialize": self._post, "server/discover": self._post}
        self.acts |= {"tools/call": self._post, "notifications/initialized": self._post}
        self.answered = True

    async def _open(self, asked: Asked, reply: Reply) -> None:
        self.stream, self.opened = reply, self.opened + 1
        await reply.stream()
        await reply.raw(f"event: endpoint\ndata: {self.endpoint}\n\n".encode())
        await reply.gone.wait()

    async def _post(self, asked: Asked, reply: Reply) -> None:
        if asked.path == "/mcp":
            await reply.send(405)
            return
        await reply.send(202, b"Accepted", "text/plain")
        results = {
            "initialize": initialized("2024-11-05", {"tools": {}}),
            "tools/call": {"content": []},
        }
        if asked.what in results and self.answered and self.stream is not None:
            await self.stream.event(answer(asked, results[asked.what]))

    def client(self, **options: Any) -> Client:
        return Client.http(self.url, **options)


@pytest.mark.requirement("transport.http.compat.endpoint-event", "transport.http.compat.any-url")
@pytest.mark.requirement("transport.http.compat.fallback-no-modern-error")
@pytest.mark.requirement("transport.sse.post-there")
async def test_a_server_of_http_and_sse_is_found_last() -> None:
    async with Old().running() as server, server.client() as client:
        assert client.revision == "2024-11-05"
        assert (await client.call_tool("t")).content == []
    assert server.whats() == [
        "server/discover",
        "initialize",
        "GET",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert [asked.path for asked in server.asked[3:]] == ["/messages?s=1"] * 3


@pytest.mark.requirement("transport.http.compat.fallback-three")
@pytest.mark.parametrize(("code", "tried"), [(400, 1), (404, 1), (405, 1), (406, 0), (500, 0)])
async def test_only_three_statuses_lead_to_http_and_sse(code: int, tried: int) -> None:
    server = Server("2025-11-25")
    server.acts["initialize"] = status(code)
    async with server.running():
        with pytest.raises(BadStatus, match=rf"(initialize|GET): HTTP {code}"):
            async with server.client():
                pass
    assert len(server.of("GET")) == tried


@pytest.mark.parametrize(
    ("post", "get", "said"),
    [
        (405, status(404), "GET: HTTP 404"),
        (405, status(200, b"<title>Welcome</title>", "text/html"), "GET: HTTP 200"),
        (405, status(401), "GET: HTTP 401 the server asks for a token"),
        (404, status(401), "GET: HTTP 401 the server asks for a token"),
        (404, status(404), "initialize: HTTP 404"),
        (400, status(500), "initialize: HTTP 400"),
    ],
)
async def test_where_the_get_was_the_way_in_its_refusal_is_the_error(
    post: int, get: Act, said: str
) -> None:
    server = RawHttp()
    server.acts = {"server/discover": status(post), "initialize": status(post), "GET": get}
    async with server.running():
        with pytest.raises(BadStatus, match=said) as raised:
            async with Client.http(server.url):
                pass
    assert isinstance(raised.value, Unauthorized) == ("401" in said)


async def test_a_modern_error_to_a_handshake_leads_nowhere() -> None:
    server = Server("2025-11-25")
    server.acts["initialize"] = status(400, error(1, -32020))
    async with server.running():
        with pytest.raises((RemoteError, NoCommonRevision)):
            async with server.client():
                pass
    assert server.whats() == ["initialize"]


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1/x", "https://evil.example/", "//evil/x"])
async def test_an_endpoint_of_another_origin_is_refused(endpoint: str) -> None:
    async with Old(endpoint).running() as server:
        with pytest.raises((BadStatus, BadAnswer)):
            async with server.client():
                pass
    assert server.whats() == ["server/discover", "initialize", "GET"]


async def test_an_endpoint_is_relative_to_where_its_stream_was_found() -> None:
    server = Old("messages?s=1")
    opens = server.acts["GET"]

    async def moved(asked: Asked, reply: Reply) -> None:
        if asked.path == "/mcp":
            await reply.send(307, Location="/there/")
        else:
            await opens(asked, reply)

    server.acts["GET"] = moved
    async with server.running(), server.client() as client:
        await client.call_tool("t")
    assert server.of("tools/call")[0].path == "/there/messages?s=1"


async def test_the_end_of_the_one_stream_fails_what_waits_and_the_next_call_opens_another() -> None:
    async with Old().running() as server, server.client() as client:
        server.answered = False
        waiting = asyncio.ensure_future(client.call_tool("t"))
        await server.until("tools/call")
        assert server.stream is not None
        server.stream.drop()
        with pytest.raises(Disconnected):
            await asyncio.wait_for(waiting, 1)
        server.answered = True
        assert (await client.call_tool("t")).content == []
        assert server.opened == 2


async def test_a_call_that_opens_the_one_stream_anew_ends_when_the_client_is_closed() -> None:
    async with Old().running() as server:
        async with server.client() as client:
            await client.call_tool("t")
            del server.acts["GET"]
            assert server.stream is not None
            server.stream.drop()
            while client.is_connected:
                await elapse(0.002)
            calling = asyncio.ensure_future(client.call_tool("t"))
            await server.until("GET", 2)
        with pytest.raises(Disconnected):
            await asyncio.wait_for(calling, 1)


async def test_a_stream_that_names_no_endpoint_ends_in_time() -> None:
    server = Old()

    async def mute(asked: Asked, reply: Reply) -> None:
        await reply.stream()
        await reply.gone.wait()

    server.acts["GET"] = mute
    async with server.running():
        with pytest.raises(TimedOut, match="initialize"):
            async with server.client(limits=Limits(deadline=1)):
                pass


# ---- what is kept


async def test_what_a_server_speaks_is_kept_for_the_life_of_the_client() -> None:
    async with Server("2025-11-25").running() as server:
        client = server.client(revisions=ALL)
        for _ in range(2):
            async with client:
                await client.call_tool("t")
    assert len(server.of("server/discover")) == 1
    async with Old().running() as old:
        client = old.client()
        for _ in range(2):
            async with client:
                await client.call_tool("t")
    assert len(old.of("server/discover")) == 1
    assert len([asked for asked in old.of("initialize") if asked.path == "/mcp"]) == 1


async def test_what_is_kept_is_found_out_anew_where_it_no_longer_holds() -> None:
    async with Server("2025-11-25").running() as server:
        client = server.client(revisions=ALL)
        async with client:
            pass
        server.revision = NEWEST
        server.acts["initialize"] = status(400, error(1, -32600))
        async with client:
            assert client.revision == NEWEST
