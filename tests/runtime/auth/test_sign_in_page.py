"""A server sends people to sign-in pages of the internet, or of the network that it is in."""

from __future__ import annotations

from typing import Any, Final

import pytest

from mcp_runtime.auth import fetch
from mcp_runtime.auth.client.flows.authorizer import Authorizer
from mcp_runtime.auth.client.oauth import OAuth
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.fetch import GuardedFetch
from tests.support.authorization_server import SERVER, Clock, World, refused

INSIDE: Final = (
    *("https://10.0.0.1/login", "https://192.168.1.1/", "https://[fd00::1]/", "https://127.0.0.1/"),
    *("http://127.0.0.1:8080/", "https://localhost/", "http://app.localhost/", "https://[::1]/"),
    *("https://169.254.169.254/latest", "https://[::ffff:10.0.0.1]/", "https://[64:ff9b::a00:1]/"),
    *("https://[fec0::1]/", "https://100.64.0.1/", "https://0.0.0.0/", "https://[2002:a00:1::]/"),
)


async def sign_in(page: str, server: str = SERVER, **settings: Any) -> World:
    world = World(resource=server, metadata={"authorization_endpoint": page})
    auth = OAuth(redirect=world.redirect, now=Clock(), **settings)
    await Authorizer(auth, server, world).recover(refused(), server, {})
    return world


@pytest.mark.parametrize("page", INSIDE)
async def test_a_page_in_a_private_network_is_not_shown(page: str) -> None:
    with pytest.raises(DiscoveryFailed, match="allow_private_sign_in=True"):
        await sign_in(page)


@pytest.mark.parametrize("page", INSIDE)
async def test_it_is_shown_to_whoever_allows_it(page: str) -> None:
    assert len((await sign_in(page, allow_private_sign_in=True)).visited) == 1


@pytest.mark.parametrize("page", ["https://as.example/x", "https://8.8.8.8/", "https://[2606::1]/"])
async def test_a_page_of_the_internet_is_shown(page: str) -> None:
    assert len((await sign_in(page)).visited) == 1


@pytest.mark.parametrize(
    ("server", "page"),
    [
        ("http://127.0.0.1:9/mcp", "http://localhost:1/login"),
        ("http://localhost:9/mcp", "http://127.0.0.1:1/login"),
        ("https://10.0.0.9/mcp", "https://10.0.0.1/login"),
        ("https://[fd00::9]/mcp", "https://192.168.0.1/login"),
    ],
)
async def test_a_server_may_name_a_page_in_its_own_network(server: str, page: str) -> None:
    assert len((await sign_in(page, server)).visited) == 1


# ---- names

NAMES: Final = {
    "public.example": ["93.184.215.14"],
    "inside.example": ["10.0.0.1"],
    "mixed.example": ["93.184.215.14", "10.0.0.1"],
    "mcp.corp.example": ["10.0.0.9"],
}


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolved(host: str, port: int) -> list[str]:
        if host.replace(".", "").isdigit():
            return [host]
        if host not in NAMES:
            raise OSError(f"no address of {host}")
        return NAMES[host]

    monkeypatch.setattr(fetch, "_resolved", resolved)


@pytest.mark.parametrize("host", ["inside.example", "mixed.example", "10.0.0.1", "localhost"])
async def test_a_name_is_judged_by_all_its_addresses(host: str) -> None:
    with pytest.raises(DiscoveryFailed, match="sign-in page"):
        await GuardedFetch("https://public.example/mcp").require_page(f"https://{host}/login")


@pytest.mark.parametrize(
    ("server", "page"),
    [
        ("public.example", "public.example"),
        ("mcp.corp.example", "inside.example"),
        ("public.example", "only-the-browser-knows.example"),
    ],
)
async def test_other_names_pass(server: str, page: str) -> None:
    await GuardedFetch(f"https://{server}/mcp").require_page(f"https://{page}/login")
