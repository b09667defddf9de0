"""A client takes its proxy from the environment if it is told to; signing in goes the same way."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_runtime import Client
from mcp_runtime.auth import fetch
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.fetch import GuardedFetch
from mcp_runtime.auth.messages import get
from mcp_runtime.errors import NotReached
from tests.support.json_peers import NEWEST
from tests.support.raw_http_server import Server

pytestmark = pytest.mark.real_time
URL = "http://server.example/mcp"


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def test_a_proxy_of_the_environment_is_used_on_demand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Server().running() as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{server.port}")
        async with Client.http(URL, trust_env=True, revisions=[NEWEST]) as client:
            await client.call_tool("t")
    assert {asked.path for asked in server.asked} == {URL}


async def test_a_proxy_that_is_given_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Server().running() as server:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        options: dict[str, Any] = {"proxy": f"http://127.0.0.1:{server.port}", "trust_env": True}
        async with Client.http(URL, revisions=[NEWEST], **options) as client:
            await client.call_tool("t")


async def test_the_loopback_is_asked_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Server().running() as server:
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
        async with server.client(trust_env=True) as client:
            await client.call_tool("t")


@pytest.mark.parametrize("value", ["ftp://proxy.example", "http://proxy.example:x"])
async def test_an_environment_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", value)
    with pytest.raises(ValueError, match="ALL_PROXY"):
        async with Client.http(URL, trust_env=True):
            pass
    monkeypatch.delenv("ALL_PROXY")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    with pytest.raises(ValueError, match="SSL_CERT_FILE"):
        async with Client.http(URL, trust_env=True):
            pass


# ---- signing in


async def test_the_requests_of_authorization_go_by_the_proxy() -> None:
    async with Server().running() as server:
        proxy = f"http://127.0.0.1:{server.port}"
        one = GuardedFetch("https://mcp.example/mcp", proxy_of=lambda url: proxy)
        await one(get("http://as.example/metadata", "asks"))
        await one.close()
    assert [asked.path for asked in server.asked] == ["http://as.example/metadata"]


@pytest.mark.parametrize(
    "place", ["http://10.0.0.1/", "http://169.254.169.254/", "http://localhost/", "http://inside/"]
)
async def test_a_proxy_leads_to_no_private_network(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy stands inside, and would ask there for whoever names the place."""
    resolved = fetch._resolved

    async def known(host: str, port: int) -> list[str]:
        return ["192.168.0.9"] if host == "inside" else await resolved(host, port)

    monkeypatch.setattr(fetch, "_resolved", known)
    async with Server().running() as server:
        proxy = f"http://127.0.0.1:{server.port}"
        one = GuardedFetch("https://1.1.1.1/mcp", proxy_of=lambda url: proxy)
        with pytest.raises(DiscoveryFailed, match="not on the public internet"):
            await one(get(place, "asks"))
        await one.close()
    assert server.asked == []


async def test_a_proxy_that_is_not_there_is_said() -> None:
    one = GuardedFetch("https://1.1.1.1/mcp", proxy_of=lambda url: "http://127.0.0.1:1")
    with pytest.raises(NotReached):
        await one(get("http://as.example/", "asks"))
    await one.close()


async def test_a_socks_proxy_names_the_package_that_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcp_runtime.client.http.http.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install socksio"):
        async with Client.http(URL, proxy="socks5://127.0.0.1:1"):
            pass
