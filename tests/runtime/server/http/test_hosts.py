"""Who may ask: Host and Origin, checked before anything else is read."""

from __future__ import annotations

from typing import Final

import pytest

from mcp_runtime.core.http.http_rules import Hosts
from mcp_runtime.server.http.app import HttpApp
from tests.support.asgi_client import GET, POST, plain, request, serving

ADMITTED: Final = (
    "localhost",
    "LOCALHOST",
    "LocalHost:8000",
    "localhost.",
    "localhost.:8000",
    "localhost:1",
    "localhost:65535",
    "127.0.0.1",
    "127.0.0.1.",
    "127.0.0.1:80",
    "[::1]",
    "[::1]:8000",
)
REFUSED: Final = (
    "",
    " ",
    ".",
    ":",
    ":8000",
    "localhost:",
    "localhost:http",
    "localhost:8000:9000",
    "localhost:+80",
    "localhost:٣",
    "localhost:123456",
    "localhost..",
    ".localhost",
    "localhost.evil",
    "localhost.evil.com:8000",
    "evil.localhost",
    "evil-localhost",
    "localhostevil",
    "xn--localhost-",
    "xn--lcalhost-n7a",
    "lócalhost",
    "localhost\u00ad",
    "localhost@evil.com",
    "evil.com@localhost",
    "user:secret@localhost:8000",
    "localhost/evil",
    "localhost?x",
    "localhost#x",
    "localhost\\evil",
    "localhost%00",
    "localhost\x00",
    "localhost\tevil",
    "localhost evil.com",
    "localhost,evil.com",
    "localhost, localhost",
    "http://localhost",
    "//localhost",
    "127.0.0.1.evil",
    "127.0.0.1.nip.io",
    "127.0.0.2",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0.0.0.0",
    "::1",
    "::1:8000",
    "[::1",
    "::1]",
    "[::1]evil",
    "[::1].evil.com",
    "[::1%25lo]",
    "[::2]",
    "[::ffff:127.0.0.1]",
    "[]",
    "example.com",
    "192.168.0.1",
    "*",
    "null",
)


def latin(text: str) -> str:
    """As it comes from the wire: bytes, each a character."""
    return text.encode().decode("latin-1")


@pytest.mark.parametrize("host", ADMITTED)
def test_a_loopback_host_is_admitted(host: str) -> None:
    assert Hosts().admits_host(host)
    assert Hosts().admits_origin(f"http://{host}")
    assert Hosts().admits_origin(f"https://{host}")


@pytest.mark.parametrize("host", REFUSED)
def test_any_other_host_is_refused(host: str) -> None:
    assert not Hosts().admits_host(latin(host))
    assert not Hosts().admits_origin(f"http://{latin(host)}")


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "localhost",
        "file://localhost",
        "ftp://localhost",
        "chrome-extension://localhost",
        "http:localhost",
        "http:/localhost",
        "http:///localhost",
        "http://localhost/",
        "http://localhost/path",
        "http://localhost http://localhost",
        "http://localhost, http://localhost",
        "http://localhost\n",
        "http://local\thost",
        "http://[::1",
        "http://\u2100",
        "http://",
    ],
)
def test_what_is_no_origin_of_the_loopback_is_refused(origin: str) -> None:
    assert not Hosts().admits_origin(latin(origin))


def test_no_origin_is_no_web_page_and_no_host_is_refused() -> None:
    assert Hosts().admits_origin(None)
    assert not Hosts().admits_host(None)


@pytest.mark.parametrize(
    ("allowed", "host", "admitted"),
    [
        ("example.com", "example.com", True),
        ("example.com", "EXAMPLE.com:443", True),
        ("Example.COM", "example.com", True),
        ("example.com.", "example.com", True),
        ("example.com", "example.com.", True),
        ("example.com", "www.example.com", False),
        ("example.com", "localhost", False),
        ("example.com:8443", "example.com:8443", True),
        ("example.com:8443", "example.com", False),
        ("example.com:8443", "example.com:443", False),
        ("[2001:DB8::1]", "[2001:db8::1]:80", True),
        ("[2001:db8::1]:80", "[2001:db8::1]:81", False),
        ("*", "anything at all", True),
        ("*", "", True),
    ],
)
def test_an_allow_list_has_names_with_a_port_or_with_any(
    allowed: str, host: str, admitted: bool
) -> None:
    assert Hosts([allowed]).admits_host(host) is admitted


@pytest.mark.parametrize("host", ["", "::1", "https://example.com", "*.example.com", "a b", "a/b"])
def test_a_host_that_no_header_could_say_is_refused_at_once(host: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        Hosts([host])


@pytest.mark.parametrize("origin", ["", "example.com", "https://example.com/", "https://a.com/b"])
def test_an_origin_that_no_header_could_say_is_refused_at_once(origin: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        Hosts(origins=[origin])


@pytest.mark.parametrize(
    ("allowed", "origin", "admitted"),
    [
        ("https://app.example.com", "https://app.example.com", True),
        ("https://App.Example.com", "https://app.example.com", True),
        ("https://App.Example.com", "https://App.Example.com", True),
        ("vscode-webview://Abc", "vscode-webview://Abc", True),
        ("https://app.example.com", "http://app.example.com", False),
        ("https://app.example.com", "https://app.example.com:8443", False),
        ("https://app.example.com:8443", "https://app.example.com:8443", True),
        ("https://app.example.com", "https://app.example.com.evil", False),
        ("vscode-webview://abc", "vscode-webview://abc", True),
        ("null", "null", True),
        ("*", "https://evil.com", True),
        ("*", "null", True),
    ],
)
def test_an_origin_is_admitted_as_such(allowed: str, origin: str, admitted: bool) -> None:
    assert Hosts(origins=[allowed]).admits_origin(origin) is admitted


ROUTES: Final = (
    ("POST", "/mcp", POST),
    ("GET", "/mcp", GET),
    ("DELETE", "/mcp", GET),
    ("GET", "/sse", GET),
    ("POST", "/messages", POST),
)


@pytest.mark.requirement("transport.http.origin-check", "transport.http.origin-forbidden")
@pytest.mark.parametrize(("method", "path", "headers"), ROUTES)
@pytest.mark.parametrize(
    ("name", "value", "setting"),
    [
        ("host", "evil.com", ("MCP_ALLOWED_HOSTS", "--allow-host")),
        ("host", ["localhost", "evil.com"], ("MCP_ALLOWED_HOSTS", "--allow-host")),
        ("origin", "https://evil.com", ("MCP_ALLOWED_ORIGINS", "--allow-origin")),
        ("origin", ["http://localhost", "https://evil.com"], ("MCP_ALLOWED_ORIGINS",)),
        ("origin", "null", ("MCP_ALLOWED_ORIGINS",)),
    ],
)
async def test_each_route_refuses_strangers_in_json_and_names_the_setting(
    method: str,
    path: str,
    headers: dict[str, str],
    name: str,
    value: str | list[str],
    setting: tuple[str, ...],
) -> None:
    async with serving() as client:
        refused = await client.ask(method, path, {**headers, name: value})
        assert refused.status == 403
        assert refused.headers["content-type"] == "application/json"
        assert "id" not in refused.json
        assert [each for each in setting if each not in refused.error["message"]] == []


@pytest.mark.parametrize("host", [None, "", "localhost", "127.0.0.1:9"])
async def test_the_application_looks_at_the_headers_of_the_request(host: str | None) -> None:
    async with serving() as client:
        headers = {k: v for k, v in POST.items() if k != "host"}
        if host is not None:
            headers["host"] = host
        response = await client.ask("POST", "/mcp", headers)
        assert (response.status == 403) is (not host)


async def test_the_health_route_is_for_everyone() -> None:
    async with serving(health="/healthz") as client:
        response = await client.ask("GET", "/healthz", {"host": "evil.com"})
        assert (response.status, response.json) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("forwarded", "headers", "status"),
    [
        (False, {"host": "evil.com", "x-forwarded-host": "localhost"}, 403),
        (False, {"host": "localhost", "x-forwarded-host": "evil.com"}, 404),
        (True, {"host": "backend", "x-forwarded-host": "localhost"}, 404),
        (True, {"host": "localhost", "x-forwarded-host": "evil.com"}, 403),
        (True, {"host": "localhost", "x-forwarded-host": "localhost, evil.com"}, 403),
        (True, {"host": "localhost"}, 404),
    ],
)
async def test_a_forwarded_host_counts_only_where_that_was_asked_for(
    forwarded: bool, headers: dict[str, str], status: int
) -> None:
    async with serving(forwarded=forwarded) as client:
        sent = {**GET, "mcp-session-id": "none", **headers}
        assert (await client.ask("GET", "/mcp", sent)).status == status


async def status(app: HttpApp, headers: dict[str, str]) -> int:
    async with serving(app) as client:
        said = request("server/discover")
        sent = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover", **headers}
        return (await client.post(said, sent).until_over()).status


async def test_allow_lists_come_from_the_arguments_and_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, there = {"host": "one.example"}, {"host": "two.example"}
    monkeypatch.setenv("MCP_ALLOWED_HOSTS", "")
    assert await status(plain().asgi(hosts=["one.example"]), here) == 200
    assert await status(plain().asgi(hosts=["one.example"]), there) == 403
    assert await status(plain().asgi(hosts=["*"]), there) == 200
    monkeypatch.setenv("MCP_ALLOWED_HOSTS", " two.example , three.example:1")
    assert await status(plain().asgi(hosts=["one.example"]), here) == 200
    assert await status(plain().asgi(hosts=["one.example"]), there) == 200
    assert await status(plain().asgi(), {"host": "localhost"}) == 403
    monkeypatch.setenv("MCP_ALLOWED_HOSTS", "*")
    assert await status(plain().asgi(), here) == 200
    page = {"host": "any", "origin": "https://app.example"}
    assert await status(plain().asgi(), page) == 403
    assert await status(plain().asgi(origins=["https://app.example"]), page) == 200
    monkeypatch.setenv("MCP_ALLOWED_ORIGINS", "https://app.example,https://b.example")
    assert await status(plain().asgi(), page) == 200
    monkeypatch.setenv("MCP_ALLOWED_ORIGINS", "*")
    assert await status(plain().asgi(), {"host": "any", "origin": "null"}) == 200
