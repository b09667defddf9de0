"""A server that is gone, silent, elsewhere or an impostor: what fails, fails soon and by name."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcp_runtime import Client
from mcp_runtime.errors import BadAnswer, BadStatus, Disconnected, NotInstalled, TimedOut, TooMuch
from mcp_runtime.limits import Limits
from tests.support.json_peers import NEWEST, discovered, since
from tests.support.not_imported import not_imported
from tests.support.raw_http_server import Act, Asked, Reply, Server
from tests.support.virtual_time import elapse, now

STREAMABLE = since("2025-03-26")


@pytest.mark.requirement("transport.http.stream.may-break")
@pytest.mark.parametrize("revision", STREAMABLE)
@pytest.mark.parametrize("streamed", [True, False])
async def test_a_server_that_dies_fails_its_calls_at_once_and_serves_again_when_it_is_back(
    revision: str, streamed: bool
) -> None:
    server = Server(revision)

    async def hang(asked: Asked, reply: Reply) -> None:
        if streamed:
            await reply.stream()
        await reply.gone.wait()

    async with server.running(), server.client() as client:
        serves = server.acts["tools/call"]
        server.acts["tools/call"] = hang
        calls = [asyncio.ensure_future(client.call_tool("t")) for _ in range(5)]
        await server.until("tools/call", 5)
        started = now()
        await server.kill()
        errors = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(each) for each in errors] == [Disconnected] * 5
        with pytest.raises(Disconnected):
            await client.call_tool("t")
        assert now() - started < 5  # not the deadline of 30 s
        server.acts["tools/call"] = serves
        await server.start()
        await client.call_tool("t")
        await server.kill()


async def test_nobody_there_is_disconnected() -> None:
    server = Server()
    async with server.running():
        pass
    with pytest.raises(
        Disconnected,
        match=r"POST http://127\.0\.0\.1:\d+: no connection.*check the host and the port",
    ):
        async with server.client():
            pass


@pytest.mark.parametrize("revision", [NEWEST, "2025-11-25"])
async def test_a_black_hole_ends_at_the_deadline(revision: str) -> None:
    server = Server(revision)
    for what in ("server/discover", "initialize"):
        del server.acts[what]
    async with server.running():
        started = now()
        with pytest.raises(TimedOut):
            async with server.client(limits=Limits(deadline=1)):
                pass
        assert now() - started == 1
    assert len(server.asked) == 1


@pytest.mark.parametrize("revision", [NEWEST, "2025-11-25"])
async def test_what_has_become_a_black_hole_ends_at_the_deadline_too(revision: str) -> None:
    server = Server(revision)
    async with server.running():
        client = server.client(limits=Limits(deadline=1))
        async with client:
            pass
        asked = len(server.asked)
        for what in ("server/discover", "initialize"):
            del server.acts[what]
        with pytest.raises(TimedOut):
            async with client:
                pass
    assert len(server.asked) == asked + 1


async def test_a_call_into_a_black_hole_ends_at_its_deadline() -> None:
    server = Server()
    del server.acts["tools/call"]
    async with server.running(), server.client(timeout=0.2) as client:
        with pytest.raises(TimedOut, match="tools/call"):
            await client.call_tool("t")


# ---- redirects


def moved(status: int, to: str) -> Act:
    async def act(asked: Asked, reply: Reply) -> None:
        await reply.send(status, Location=to)

    return act


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirection_within_the_origin_is_followed_with_its_body(status: int) -> None:
    server = Server()
    serves = server.acts["tools/call"]

    async def first_moved(asked: Asked, reply: Reply) -> None:
        act = moved(status, "/there?x=1") if asked.path == "/mcp" else serves
        await act(asked, reply)

    server.acts["tools/call"] = first_moved
    async with server.running(), server.client(headers={"Authorization": "Bearer x"}) as client:
        await client.call_tool("t")
    first, second = server.of("tools/call")
    assert (second.verb, second.path, second.body) == ("POST", "/there?x=1", first.body)
    assert second.headers["authorization"] == "Bearer x"
    assert second.headers["mcp-name"] == "t"


@pytest.mark.parametrize("to", ["https://127.0.0.1/mcp", "http://localhost/", "//evil.example/"])
async def test_a_redirection_to_another_origin_is_not_followed(to: str) -> None:
    server = Server()
    server.acts["tools/call"] = moved(307, to)
    async with server.running(), server.client(headers={"Authorization": "Bearer x"}) as client:
        with pytest.raises(BadAnswer, match="points to another origin"):
            await client.call_tool("t")


async def test_redirections_in_a_circle_end() -> None:
    server = Server()
    server.acts["tools/call"] = moved(307, "/mcp")
    async with server.running(), server.client(limits=Limits(redirects=3)) as client:
        with pytest.raises(TooMuch, match="over 3 redirects"):
            await client.call_tool("t")
    assert len(server.of("tools/call")) == 4


# ---- whom is trusted


@pytest.mark.parametrize("url", ["", "127.0.0.1:1", "ftp://a/", "http://", "http://a:b/", "stdio"])
async def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        async with Client.http(url):
            pass


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with Server().running() as server, server.client() as client:
        await client.call_tool("t")


async def test_a_proxy_that_is_given_is_used() -> None:
    async with Server().running() as server:
        url = "http://server.example/mcp"
        proxy = f"http://127.0.0.1:{server.port}"
        async with Client.http(url, proxy=proxy, revisions=[NEWEST]) as client:
            await client.call_tool("t")
    assert {asked.path for asked in server.asked} == {url}


CERTIFICATE = Path(__file__).with_name("self_signed.pem")


@pytest.mark.real_time
async def test_a_certificate_that_nobody_vouches_for_is_refused_unless_it_is_given() -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)
    server = Server(tls=tls)
    async with server.running():
        with pytest.raises(Disconnected, match=r"(?i)certificate"):
            async with server.client():
                pass
        assert server.asked == []
        trusting = ssl.create_default_context(cafile=str(CERTIFICATE))
        async with server.client(tls=trusting) as client:
            await client.call_tool("t")


async def test_nothing_stays_behind() -> None:
    server = Server("2025-11-25", "s1")
    before = asyncio.all_tasks()
    async with server.running():
        async with server.client() as client:
            await client.call_tool("t")
            calling = asyncio.ensure_future(client.request("ping", None))
            await elapse(0.01)
        with pytest.raises(Disconnected):
            await calling
        await server.kill()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before


async def test_a_request_has_what_was_given_and_nothing_of_the_user() -> None:
    async with Server().running() as server, server.client(headers={"X-Given": "1"}):
        pass
    (asked,) = server.asked
    assert asked.headers["x-given"] == "1"
    assert {"cookie", "referer", "authorization", "origin"}.isdisjoint(asked.headers)


@pytest.fixture
def http_not_imported() -> Iterator[None]:
    with not_imported("mcp_runtime.client.http"):
        yield


@pytest.mark.usefixtures("http_not_imported")
def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(
        NotInstalled, match=r"needs httpx2: pip install 'mcp-bindgen-runtime\[http\]'"
    ):
        Client.http("http://server.example/mcp")


# ---- what an error says


BODIES = {
    "text": (
        b"\n  Access is only allowed at localhost:7110\r\nmore",
        "text/plain",
        "Access is only allowed at localhost:7110",
    ),
    "JSON": (b'{"error": "no"}', "application/json", '{"error": "no"}'),
    "a page": (
        b"<!DOCTYPE html>\n<title>No such page</title><p>x",
        "text/html; charset=utf-8",
        "No such page",
    ),
    "HTML": (b"<html><body><h1>Not Found</h1></body>", "text/html", "Not Found"),
    "escapes": (b"\x1b[2Jno\xff", "text/plain", "\\u001b[2Jno\ufffd"),
}


@pytest.mark.parametrize(("body", "kind", "shown"), BODIES.values(), ids=BODIES)
async def test_an_error_shows_the_place_and_the_first_line_of_the_body(
    body: bytes, kind: str, shown: str
) -> None:
    server = Server()

    async def refuses(asked: Asked, reply: Reply) -> None:
        await reply.send(403, body, kind)

    server.acts["tools/call"] = refuses
    async with server.running(), server.client() as client:
        with pytest.raises(BadStatus) as raised:
            await client.call_tool("t")
    place = f"http://127.0.0.1:{server.port}"
    assert str(raised.value) == f"tools/call: HTTP 403 Status from {place}: {shown}"


async def test_an_error_without_a_body_shows_the_place() -> None:
    server = Server()
    server.acts["server/discover"] = moved(403, "/x")
    async with server.running():
        with pytest.raises(BadStatus) as raised:
            async with server.client():
                pass
    place = f"http://127.0.0.1:{server.port}"
    assert str(raised.value) == f"server/discover: HTTP 403 Status from {place}"


async def test_an_error_repeats_no_secret_that_was_sent() -> None:
    server = Server()

    async def repeats(asked: Asked, reply: Reply) -> None:
        await reply.send(403, f"not {asked.headers['authorization']}".encode(), "text/plain")

    server.acts["tools/call"] = repeats
    headers = {"Authorization": "Bearer secret-token"}
    async with server.running(), server.client(headers=headers) as client:
        with pytest.raises(BadStatus, match="not") as raised:
            await client.call_tool("t")
    assert "secret-token" not in str(raised.value)


# ---- answers that come before the request was sent


@asynccontextmanager
async def early(answer: bytes, *, close: bool = False) -> AsyncGenerator[str]:
    """The URL of a server that answers a call as soon as it has the headers, and reads no more."""
    newest = discovered({"tools": {}})
    serving: dict[asyncio.Task[None] | None, asyncio.StreamWriter] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving[asyncio.current_task()] = writer
        while head := await reader.readuntil(b"\r\n\r\n"):
            if b"tools/call" in head:
                writer.write(answer)
                await writer.drain()
                if close:
                    writer.write_eof()
                await elapse(60)
            (size,) = re.findall(rb"(?i)content-length: (\d+)", head)
            message = json.loads(await reader.readexactly(int(size)))
            body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": newest}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()
        for task, writer in serving.items():
            writer.transport.abort()
            assert task is not None
            task.cancel()
        await asyncio.gather(*filter(None, serving), return_exceptions=True)


TOO_LARGE = (
    b"HTTP/1.1 413 Content Too Large\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\n"
    b"4 MB at most"
)


@pytest.mark.parametrize("close", [False, True])
async def test_an_answer_before_the_body_is_sent_is_read(close: bool) -> None:
    async with early(TOO_LARGE, close=close) as url, Client.http(url) as client:
        started = now()
        with pytest.raises(BadStatus, match=r"413 Content Too Large.*: 4 MB at most"):
            await client.call_tool("t", {"a": "x" * 40_000_000}, timeout=20)
        assert now() - started < 10


async def test_a_large_request_that_is_read_is_answered() -> None:
    server = Server()
    async with server.running(), server.client() as client:
        for _ in range(3):
            await client.call_tool("t", {"a": "x" * 8_000_000})
            await client.call_tool("t")
    assert len({asked.headers["content-length"] for asked in server.of("tools/call")}) == 2


async def test_a_server_that_is_gone_while_a_large_request_is_sent_is_disconnected() -> None:
    async with early(b"", close=True) as url, Client.http(url) as client:
        with pytest.raises(Disconnected):
            await client.call_tool("t", {"a": "x" * 40_000_000}, timeout=20)
