"""`run`, `call` and `trace`: a server is served, asked and its wire judged, as a person would."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from click.testing import Result

from mcp_runtime import Server, ToolError
from tests.support.command import invoke, run
from tests.support.loopback import Loopback

SERVER: Final = '''
import os
from mcp_runtime import Context, Server, ToolError

server = Server("demo", "1.2.3")
other = Server("other", "1")


@server.tool
async def add(a: int, b: int) -> int:
    """Adds.

    Two numbers.
    """
    print("this is no message")
    os.write(1, b"nor is this")
    return a + b


@server.tool
async def fail() -> str:
    raise ToolError("\\x1b[31mno")


@server.tool
async def tell(password: str) -> str:
    return "Authorization: Bearer abcdefgh12345"


@server.resource("a://{x}")
def a(x: str) -> str:
    """An a."""
    return x
'''
RUN: Final = (sys.executable, "-m", "mcp_bindgen", "run")


@pytest.fixture
def server(tmp_path: Path) -> str:
    path = tmp_path / "demo.py"
    path.write_text(SERVER, encoding="utf-8")
    return f"{path}:server"


def call(*words: str) -> subprocess.CompletedProcess[bytes]:
    return run("call", *words)


def test_what_a_server_has_is_listed(server: str) -> None:
    done = call("--list", "--", *RUN, server)
    assert done.stdout.decode().splitlines() == [
        "demo 1.2.3, MCP 2026-07-28",
        "  tool      add: Adds.",
        "  tool      fail",
        "  tool      tell",
        "  template  a://{x}: An a.",
    ]
    assert done.returncode == 0


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_a_tool_is_called_and_its_prints_stay_off_the_wire(server: str, revision: str) -> None:
    done = call("--revision", revision, "--", *RUN, server, "add", '{"a": 1, "b": 2}')
    assert (done.stdout, done.returncode) == (b'{"result":3}\n', 0)
    assert b"this is no message" in done.stderr
    assert b"nor is this" in done.stderr


def test_a_result_is_shown_as_json(server: str) -> None:
    done = call("--format", "json", "--", *RUN, server, "add", '{"a": 1, "b": 2}')
    assert json.loads(done.stdout)["structuredContent"] == {"result": 3}


def test_a_tool_that_fails_is_a_finding_whose_text_cannot_steer_the_terminal(server: str) -> None:
    done = call("--", *RUN, server, "fail")
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert b"no" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "no-such-command", "x"], "cannot start 'no-such-command'"),
        (["--", sys.executable, "-c", "pass", "x"], "has ended before it said what it speaks"),
        (["--", "x"], "a call has a command or URL, and a tool"),
        (["--", "x", "y", "{bad"], "the arguments are no JSON"),
        (["--revision", "1999-01-01", "--", "x", "y"], "no such revision"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_message(words: list[str], said: str) -> None:
    done = call(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()


def test_an_unknown_tool_is_the_servers_own_error(server: str) -> None:
    done = call("--", *RUN, server, "nope")
    assert done.returncode == 2
    assert "Unknown tool: nope (-32602)" in done.stderr.decode()


def test_a_module_with_several_servers_asks_for_a_name(server: str) -> None:
    done = run("run", server.removesuffix(":server"))
    assert done.returncode == 2
    assert "has other, server" in done.stderr.decode()


@pytest.mark.parametrize("target", ["no_such_module", "no_such_file.py", "json", "demo.py:nope"])
def test_what_is_no_server_is_not_run(target: str, tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text(SERVER, encoding="utf-8")
    done = run("run", target, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"mcp-bindgen: ")


# ---- trace


def recorded(server: str, file: Path, *words: str, revision: str = "2025-11-25") -> list[Any]:
    call("--revision", revision, "--trace", str(file), "--", *RUN, server, *words)
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_trace_has_each_message_and_its_direction(server: str, tmp_path: Path) -> None:
    lines = recorded(server, tmp_path / "t", "add", '{"a": 1, "b": 2}')
    sent = [(line["direction"], line["message"].get("method")) for line in lines]
    assert sent == [
        ("sent", "initialize"),
        ("received", None),
        ("sent", "notifications/initialized"),
        ("sent", "tools/call"),
        ("received", None),
    ]
    times = [line["at"] for line in lines]
    assert times == sorted(times)


def test_secrets_are_left_out_of_a_trace(server: str, tmp_path: Path) -> None:
    lines = recorded(server, tmp_path / "t", "tell", '{"password": "hunter2"}')
    text = json.dumps(lines)
    assert "hunter2" not in text
    assert "abcdefgh12345" not in text
    assert lines[3]["message"]["params"]["arguments"] == {"password": "[redacted]"}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28"])
def test_the_wire_of_our_own_sides_is_valid(server: str, tmp_path: Path, revision: str) -> None:
    recorded(server, tmp_path / "t", "add", '{"a": 1, "b": 2}', revision=revision)
    for options in ([], ["--revision", revision]):
        done = run("trace", "--check", *options, tmp_path / "t")
        assert done.stdout.decode().endswith(" valid, 0 invalid\n")
        assert done.returncode == 0


def test_a_message_at_fault_is_told_with_its_line_and_path(server: str, tmp_path: Path) -> None:
    file = tmp_path / "t"
    lines = recorded(server, file, "add", '{"a": 1, "b": 2}')
    lines[4]["message"]["result"]["content"] = 5
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    done = run("trace", "--check", "--revision", "2025-11-25", file)
    assert done.returncode == 1
    first, last = done.stdout.decode().splitlines()
    assert first.startswith("5: <- invalid CallToolResult at $.result.content: expected array")
    assert last == "5 messages: 4 valid, 1 invalid"


def test_a_trace_is_shown_message_by_message(server: str, tmp_path: Path) -> None:
    recorded(server, tmp_path / "t", "add", '{"a": 1, "b": 2}')
    shown = invoke("trace", tmp_path / "t").stdout.splitlines()
    assert len(shown) == 5
    assert shown[1].endswith("…")
    assert json.loads(invoke("trace", "--full", tmp_path / "t").stdout.splitlines()[1][14:])
    assert "-> " in shown[0]
    assert '"initialize"' in shown[0]


@pytest.mark.parametrize("text", ["nonsense\n", "[]\n", '{"direction": "up", "message": 1}\n'])
def test_a_file_that_is_no_trace_is_refused_by_its_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text(text, encoding="utf-8")
    done = run("trace", tmp_path / "t")
    assert done.returncode == 2
    assert b"line 1 is no line of a trace" in done.stderr


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-11-25"])
def test_row_14_the_trace_of_an_older_server_is_judged_as_it_negotiated(
    tmp_path: Path, revision: str
) -> None:
    (tmp_path / "old.py").write_text(
        f"from mcp_runtime import Server\nserver = Server('old', '1', revisions=['{revision}'])\n"
        "@server.tool\ndef add(a: int) -> int: return a\n"
    )
    traced = tmp_path / "t"
    call("--trace", str(traced), "--", *RUN, str(tmp_path / "old.py"), "add", '{"a": 1}')
    lines = [json.loads(line) for line in traced.read_text("utf-8").splitlines()]
    methods = [line["message"].get("method") for line in lines]
    assert methods[0] == "server/discover"
    assert "initialize" in methods
    done = run("trace", "--check", traced)
    assert done.stdout.decode() == f"{len(lines)} messages: {len(lines)} valid, 0 invalid\n"
    assert done.returncode == 0
    lines[-1]["message"]["result"]["content"] = 5
    traced.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    done = run("trace", "--check", traced)
    assert b"invalid CallToolResult at $.result.content: expected array" in done.stdout


def test_a_trace_that_negotiates_nothing_needs_a_revision(tmp_path: Path) -> None:
    line = {"at": 0, "direction": "sent", "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
    (tmp_path / "t").write_text(json.dumps(line), encoding="utf-8")
    assert b"line 1: no message up to this one" in run("trace", "--check", tmp_path / "t").stderr
    done = run("trace", "--check", "--revision", "2025-11-25", tmp_path / "t")
    assert done.stdout == b"1 message: 1 valid, 0 invalid\n"


# ---- over HTTP


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:99999", "127.0.0.1:"])
def test_an_address_that_is_none_is_refused(server: str, address: str) -> None:
    done = run("run", "--http", address, server)
    assert done.returncode == 2
    assert b"is not an address" in done.stderr


def test_run_serves_over_http_until_it_is_told_to_end(server: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*RUN, "--http", f"127.0.0.1:{port}", "--allow-host", "demo.example", server]
    process = subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE)
    try:
        body = _discovered(port, process)
        assert body["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "demo"
        process.send_signal(signal.SIGTERM)
        _, shown = process.communicate(timeout=10)
        assert process.returncode == 0
        assert shown.decode() == f"MCP at http://127.0.0.1:{port}/mcp\n"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:0"])
def test_run_says_where_it_serves(server: str, address: str) -> None:
    process = subprocess.Popen([*RUN, "--http", address, server], stderr=subprocess.PIPE)
    assert process.stderr is not None
    try:
        words = process.stderr.readline().decode().split()
        url = urlsplit(words[-1])
        assert words[:2] == ["MCP", "at"]
        with socket.create_connection((url.hostname, url.port or 0), 5):
            pass
    finally:
        process.kill()
        process.communicate()


def test_a_place_that_is_taken_is_said_in_one_message(server: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        done = run("run", "--http", place, server)
    assert done.returncode == 2
    assert f"mcp-bindgen: nothing can be served at {place}" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_serving_without_the_library_for_it_is_one_message_that_names_the_extra(
    server: str,
) -> None:
    without = "import sys; sys.modules['uvicorn'] = None; from mcp_bindgen.cli import main; main()"
    command = [sys.executable, "-c", without, "run", "--http", ":0", server]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "mcp-bindgen: a server over HTTP needs uvicorn: pip install 'mcp-bindgen-runtime[http]'\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--http", ":0", "--allow-host", "https://a.example"], "is no host"),
        (["--http", ":0", "--allow-origin", "a.example"], "is no origin"),
        (["--allow-host", "a.example"], "go with --http"),
        (["--allow-origin", "https://a.example"], "go with --http"),
    ],
)
def test_who_cannot_be_admitted_is_said_before_anything_is_served(
    server: str, words: list[str], said: str
) -> None:
    done = run("run", *words, server)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["MCP_ALLOWED_HOSTS", "MCP_ALLOWED_ORIGINS"])
def test_so_is_who_is_named_by_the_environment(
    server: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "a b")
    done = run("run", "--http", ":0", server)
    assert done.returncode == 2
    assert b"'a b' is no" in done.stderr
    assert b"Traceback" not in done.stderr


def _discovered(port: int, process: subprocess.Popen[bytes]) -> Any:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    asked = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    headers = {
        "Host": "demo.example",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "server/discover",
    }
    url = f"http://127.0.0.1:{port}/mcp"
    for _ in range(200):
        request = urllib.request.Request(url, json.dumps(asked).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=5) as response:
                return json.load(response)
        except urllib.error.URLError:
            assert process.poll() is None
            time.sleep(0.05)
    raise AssertionError("nothing serves there")


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
    lines = ["demo 1.2.3, MCP 2026-07-28", "  tool      add: Adds.", "  tool      fail"]
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
        (["http://127.0.0.1:1/mcp"], "a call has a command or URL, and a tool"),
        (["http://127.0.0.1:1/mcp", "x", "y"], "after a URL come a tool and its arguments"),
        (["--header", "a", "http://127.0.0.1:1/mcp", "x"], "a name, a colon and a value"),
        (["--header", "a b: c", "http://127.0.0.1:1/mcp", "x"], "a name, a colon and a value"),
        (["--header", "a: b\r\nc: d", "http://127.0.0.1:1/", "x"], "a name, a colon and a value"),
        (["--header", "a: b", "--", "python", "x"], "not for a command"),
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


def test_a_url_without_the_library_for_it_is_one_message_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    for module in [name for name in sys.modules if name.startswith("mcp_runtime.client.http")]:
        monkeypatch.delitem(sys.modules, module)
    done = ask("--list", "http://127.0.0.1:1/mcp")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        "mcp-bindgen: a client over HTTP needs httpx2: pip install 'mcp-bindgen-runtime[http]'\n"
    )


FAILING = {
    "raises": ("\n\nraise ValueError('no config')\n", "ValueError: no config", "line 3"),
    "syntax": ("def f(:\n", "SyntaxError: invalid syntax", "line 1"),
    "signature": (
        "from mcp_runtime import Server\ns = Server('s', '1')\n\n"
        "@s.tool\ndef f(*args: int) -> int: ...\n",
        "line 4",
        "@s.tool",
    ),
    "file": ("open('absent.txt')\n", "FileNotFoundError: [Errno 2] No such file", "line 1"),
    "module": (
        "import no_such_module_at_all\n",
        "No module named 'no_such_module_at_all'",
        "line 1",
    ),
    "lifespan": (
        "from contextlib import asynccontextmanager\nfrom mcp_runtime import Server\n"
        "@asynccontextmanager\nasync def life(server):\n"
        "    raise RuntimeError('no database')\n    yield\n"
        "s = Server('s', '1', lifespan=life)\n",
        "the server has failed: RuntimeError: no database",
        "line 5",
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_server_that_fails_is_told_in_its_own_lines(name: str, tmp_path: Path) -> None:
    text, *expected = FAILING[name]
    (tmp_path / "boom.py").write_text(text)
    done = run("run", "boom.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    shown = done.stderr.decode()
    assert shown.startswith("mcp-bindgen: ")
    assert all(words in shown for words in expected), shown
    for machinery in ("click", "mcp_bindgen/cli", "importlib", "asyncio/"):
        assert machinery not in shown
