"""`call` of a URL: what the server has, its tools, its trace, and what cannot be asked."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import Result

from mcp_runtime import Server, ToolError
from tests.support.command import invoke
from tests.support.loopback import Loopback
from tests.support.not_imported import not_imported


class Served:
    """A server over HTTP, and the values of a header that came with the requests to it."""

    def __init__(self) -> None:
        self.tokens: list[bytes | None] = []
        self.server = Server("demo", "1.2.3")
        self.server.tool(add)
        self.server.tool(fail)
        self._app = self.server.asgi()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.tokens.append(dict(scope["headers"]).get(b"authorization"))
        await self._app(scope, receive, send)


async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


async def fail() -> str:
    raise ToolError("no")


@pytest.fixture
def served() -> Served:
    return Served()


@pytest.fixture
def url(served: Served, loopback: Loopback) -> Iterator[str]:
    with loopback.mounted(served) as address:
        yield f"{address}/mcp"


def ask(*words: str) -> Result:
    return invoke("call", *words)


def test_what_the_server_of_a_url_has_is_listed(url: str) -> None:
    done = ask("--list", url)
    lines = [
        "demo 1.2.3, MCP 2026-07-28",
        "  tool      add(a: integer, b: integer): Adds.",
        "  tool      fail()",
    ]
    assert (done.stdout.splitlines(), done.exit_code) == (lines, 0)


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_a_tool_of_a_url_is_called(url: str, revision: str) -> None:
    done = ask("--revision", revision, url, "add", '{"a": 1, "b": 2}')
    assert (done.stdout, done.stderr, done.exit_code) == ('{"result":3}\n', "", 0)


def test_a_tool_of_a_url_that_fails_is_a_finding(url: str) -> None:
    done = ask(url, "fail")
    assert (done.stdout, done.exit_code) == ("no\n", 1)


def test_headers_go_with_each_request(url: str, served: Served) -> None:
    done = ask("--header", "Authorization: Bearer abc", "--header", "X-A:", url, "fail")
    assert done.exit_code == 1
    assert len(served.tokens) > 1
    assert {*served.tokens} == {b"Bearer abc"}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_the_wire_of_a_url_is_traced(url: str, tmp_path: Path, revision: str) -> None:
    trace = tmp_path / "t"
    ask("--trace", str(trace), "--revision", revision, url, "add", '{"a": 1, "b": 2}')
    checked = invoke("trace", "--check", "--revision", revision, trace)
    assert (checked.exit_code, checked.stderr) == (0, "")
    lines = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
    assert len(lines) >= 4
    assert lines[-1]["message"]["result"]["content"][0]["text"] == '{"result":3}'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["http://127.0.0.1:1/mcp", "x"], "127.0.0.1"),
        (["http://", "x"], "has a host"),
        (["http://127.0.0.1:70000/mcp", "x"], "its port is 70000, and the largest is 65535"),
        (["http://127.0.0.1:1/mcp"], "no TOOL is named: 'http://127.0.0.1:1/mcp' is the server"),
        (["http://127.0.0.1:1/mcp", "x", "y", "a=1"], "after a URL come a tool and its arguments"),
        (["--json", "{}", "http://127.0.0.1:1/mcp", "x", "a=1"], "JSON or name=value, not both"),
        (["--header", "a", "http://127.0.0.1:1/mcp", "x"], "a name, a colon and a value"),
        (["--header", "a b: c", "http://127.0.0.1:1/mcp", "x"], "a name, a colon and a value"),
        (["--header", "a: b\r\nc: d", "http://127.0.0.1:1/", "x"], "a name, a colon and a value"),
        (["--header", "a: b", "--", "python", "s", "x"], "not for a command"),
    ],
)
def test_what_cannot_be_asked_of_a_url_is_said_in_one_message(words: list[str], said: str) -> None:
    done = ask(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.startswith("mcp-bindgen: ")


def test_a_url_where_nobody_serves_the_protocol_is_said(loopback: Loopback) -> None:
    done = ask(f"{loopback.origin}/nothing", "x")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "HTTP 404" in done.stderr
    assert "path of the URL" in done.stderr


def test_a_wrong_path_of_a_server_of_ours_says_the_right_one(url: str) -> None:
    done = ask(url.removesuffix("/mcp"), "x")
    assert done.exit_code == 2
    assert f"there is nothing at this path; MCP is at {urlsplit(url).path} " in done.stderr


def test_a_url_without_the_library_for_it_is_one_message_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with not_imported("mcp_runtime.client.http"):
        done = ask("--list", "http://127.0.0.1:1/mcp")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "mcp-bindgen: a client over HTTP needs httpx2: pip install 'mcp-bindgen-runtime[http]'\n"
    )
