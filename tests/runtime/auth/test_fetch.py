"""What a server names is not fetched from inside our networks, whatever its name resolves to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.fetch import GuardedFetch
from mcp_runtime.auth.messages import get
from mcp_runtime.errors import Disconnected, NotReached, TooMuch

pytestmark = pytest.mark.real_time


@asynccontextmanager
async def serving(answer: bytes, seen: list[bytes] | None = None) -> AsyncGenerator[int]:
    """A server on the loopback that answers everything the same; its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if seen is not None:
            seen.append(head)
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nX-A: 2\r\n\r\n{}"


@asynccontextmanager
async def fetching(server_url: str | None, **options: Any) -> AsyncGenerator[GuardedFetch]:
    fetch = GuardedFetch(server_url, **options)
    try:
        yield fetch
    finally:
        await fetch.close()


def resolving(names: dict[str, list[str]]) -> Callable[..., Any]:
    """getaddrinfo of a world with these names."""

    async def getaddrinfo(
        loop: object, host: str, port: int, **options: Any
    ) -> list[tuple[Any, ...]]:
        addresses = names.get(host, [host])
        if not addresses:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    return getaddrinfo


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    table = {"mcp.example": ["93.184.216.34"]}
    loop = asyncio.BaseEventLoop
    monkeypatch.setattr(loop, "getaddrinfo", resolving(table))
    return table


async def test_a_server_on_the_loopback_may_name_the_loopback() -> None:
    async with serving(OK) as port, fetching("http://localhost:1/mcp") as fetch:
        response = await fetch(get(f"http://127.0.0.1:{port}/x", "asks"))
    assert (response.status, response.body) == (200, b"{}")
    assert response.headers["x-a"] == "1, 2"


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "192.168.0.1", "::1", "fd00::1"]
)
@pytest.mark.requirement("security.ssrf.considered")
@pytest.mark.requirement("security.ssrf.private-addresses")
async def test_a_public_server_may_not_name_an_address_inside(
    names: dict[str, list[str]], address: str
) -> None:
    names["evil.example"] = [address]
    async with fetching("https://mcp.example/mcp") as fetch:
        with pytest.raises(DiscoveryFailed, match="may not send us there"):
            await fetch(get("https://evil.example/metadata", "asks"))


async def test_one_address_inside_among_public_ones_is_refused(
    names: dict[str, list[str]],
) -> None:
    names["evil.example"] = ["93.184.216.34", "169.254.169.254"]
    async with fetching("https://mcp.example/mcp") as fetch:
        with pytest.raises(DiscoveryFailed):
            await fetch(get("https://evil.example/", "asks"))


async def test_a_server_on_the_loopback_may_not_name_the_cloud_s_metadata(
    names: dict[str, list[str]],
) -> None:
    names["localhost"] = ["127.0.0.1"]
    async with fetching("http://localhost/mcp") as fetch:
        for address in ("169.254.169.254", "10.0.0.1"):
            with pytest.raises(DiscoveryFailed):
                await fetch(get(f"https://{address}/latest", "asks"))


@pytest.mark.parametrize(
    "address",
    ["0.0.0.0", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0", "::ffff:169.254.169.254", "127.0.0.1"],
)
async def test_a_server_in_a_private_network_may_not_name_other_places(
    names: dict[str, list[str]], address: str
) -> None:
    names["mcp.example"], names["evil.example"] = ["192.168.1.2"], [address]
    async with fetching("https://mcp.example/mcp") as fetch:
        with pytest.raises(DiscoveryFailed, match="may not send us there"):
            await fetch(get("https://evil.example/metadata", "asks"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "app.localhost"])
async def test_a_public_name_that_also_leads_here_may_not_name_the_loopback(
    names: dict[str, list[str]], host: str
) -> None:
    """DNS rebinding of the server itself: whoever answers for its name says where it is."""
    names |= {"mcp.example": ["93.184.216.34", "127.0.0.1"], host: ["127.0.0.1"]}
    seen: list[bytes] = []
    async with serving(OK, seen) as port, fetching("https://mcp.example/mcp") as fetch:
        with pytest.raises(DiscoveryFailed, match="may not send us there"):
            await fetch(get(f"http://{host}:{port}/", "asks"))
    assert seen == []


async def test_a_name_cannot_change_its_address_after_it_was_judged(
    names: dict[str, list[str]],
) -> None:
    """DNS rebinding: the connection goes to the address that was judged, not to the name."""
    seen: list[bytes] = []
    async with serving(OK, seen) as port, fetching("https://mcp.example/mcp") as fetch:
        names["evil.example"] = ["127.0.0.1"]
        with pytest.raises(DiscoveryFailed):
            await fetch(get(f"http://evil.example:{port}/", "asks"))
    assert seen == []


@pytest.mark.requirement("security.ssrf.redirects")
async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    async with serving(moved) as port, fetching("http://127.0.0.1/") as fetch:
        assert (await fetch(get(f"http://127.0.0.1:{port}/", "asks"))).status == 302


async def test_a_response_that_is_too_large_is_cut_off() -> None:
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000
    async with serving(large) as port, fetching("http://127.0.0.1/", body_bytes=1000) as fetch:
        with pytest.raises(TooMuch, match="1000"):
            await fetch(get(f"http://127.0.0.1:{port}/", "asks"))


async def test_a_response_that_is_too_slow_is_cut_off() -> None:
    async with (
        serving(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n") as port,
        fetching("http://127.0.0.1/", seconds=0.1) as fetch,
    ):
        with pytest.raises(Disconnected):
            await fetch(get(f"http://127.0.0.1:{port}/", "asks"))


async def test_nobody_there_is_not_reached() -> None:
    async with serving(OK) as port:
        pass
    async with fetching("http://127.0.0.1/") as fetch:
        with pytest.raises(NotReached, match=str(port)):
            await fetch(get(f"http://127.0.0.1:{port}/", "asks"))


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".example"])
async def test_a_name_that_no_host_can_have_is_not_reached(host: str) -> None:
    async with fetching("http://127.0.0.1/") as fetch:
        with pytest.raises(NotReached, match=host):
            await fetch(get(f"https://{host}/", "asks"))
