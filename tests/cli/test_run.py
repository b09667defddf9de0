"""`run`: a server is served over HTTP, or it is said why it cannot be."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.support.command import run, run_here
from tests.support.demo_server import SERVER

RUN: Final = (sys.executable, "-m", "mcp_bindgen", "run")


def test_a_module_with_several_servers_asks_for_a_name(server: str) -> None:
    done = run_here("run", server.removesuffix(":server"))
    assert done.returncode == 2
    assert "has other, server" in done.stderr.decode()


@pytest.mark.parametrize("target", ["no_such_module", "no_such_file.py", "json", "demo.py:nope"])
def test_what_is_no_server_is_not_run(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "demo.py").write_text(SERVER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = run_here("run", target)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"mcp-bindgen: ")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("empty.py", "empty.py has no Server\nMake one there: server = Server(NAME, VERSION)."),
        (".", "'.' is neither a module nor a .py file\n"),
        ("folder/inner", "'folder/inner' is neither a module nor a .py file\n"),
    ],
)
def test_what_lacks_a_server_is_told_what_would_be_one(
    target: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty.py").touch()
    (tmp_path / "folder/inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    done = run_here("run", target)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"mcp-bindgen: {said}")


def test_at_a_terminal_it_says_what_it_waits_for(server: str) -> None:
    main, terminal = os.openpty()
    command = [*RUN, server]
    process = subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        os.write(main, b"\x04")  # the end of the input, as a person types it
        served, shown = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
        os.close(main)
    assert (process.returncode, served) == (0, b"")
    assert f"mcp-bindgen call --list -- mcp-bindgen run {server}" in shown.decode()


# ---- over HTTP


@pytest.mark.parametrize("address", ["nonsense", "127.0.0.1:99999", "127.0.0.1:"])
def test_an_address_that_is_none_is_refused(server: str, address: str) -> None:
    done = run_here("run", "--http", address, server)
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


def test_clients_are_told_the_prefix_that_a_proxy_cuts_off(server: str) -> None:
    command = [*RUN, "--http", "127.0.0.1:0", "--root-path", "api/", server]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            url = urlsplit(process.stderr.readline().decode().split()[-1])
            connection = http.client.HTTPConnection("127.0.0.1", url.port, timeout=30)
            connection.request("GET", "/sse", headers={"Accept": "text/event-stream"})
            with closing(connection), connection.getresponse() as stream:
                assert stream.readline() == b"event: endpoint\n"
                assert stream.readline().startswith(b"data: /api/messages")
        finally:
            process.kill()


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
    assert f"mcp-bindgen: the server has not started at {place}" in done.stderr.decode()
    assert b"Traceback" not in done.stderr


BROKEN_LIFESPAN: Final = """
from mcp_runtime import Server
def lifespan(server):
    raise LookupError("no database")
server = Server("s", "1", lifespan=lifespan)
"""


def test_a_lifespan_that_fails_and_a_store_that_cannot_be_opened_are_named(
    server: str, tmp_path: Path
) -> None:
    (tmp_path / "failing.py").write_text(BROKEN_LIFESPAN, "utf-8")
    at = ("run", "--http", "127.0.0.1:0")
    done = run(*at, tmp_path / "failing.py")
    assert done.returncode == 2
    assert b"LookupError: no database" in done.stderr
    file = tmp_path / "nowhere" / "sessions.db"
    done = run(*at, "--store", f"sqlite:///{file}", server)
    assert done.returncode == 2
    assert f"StoreUnavailable: SQLite, {file}: OperationalError(" in done.stderr.decode()


@pytest.mark.parametrize(
    "words", [("run",), ("run", "--reload"), ("run", "--workers=2"), ("bridge",)], ids=" ".join
)
def test_serving_without_the_library_for_it_is_one_message_that_names_the_extra(
    server: str, words: tuple[str, ...]
) -> None:
    without = "import sys; sys.modules['uvicorn'] = None; from mcp_bindgen.cli import main; main()"
    command = [sys.executable, "-c", without, *words, "--http", ":0", server]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "mcp-bindgen: a server over HTTP needs uvicorn: pip install 'mcp-bindgen-runtime[http]'\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--http", ":0", "--allow-host", "https://a.example"], "is not a host"),
        (["--http", ":0", "--allow-origin", "a.example"], "is not an origin"),
        (["--allow-host", "a.example"], "go with --http"),
        (["--allow-origin", "https://a.example"], "go with --http"),
        (["--root-path", "/api"], "go with --http"),
    ],
)
def test_who_cannot_be_admitted_is_said_before_anything_is_served(
    server: str, words: list[str], said: str
) -> None:
    done = run_here("run", *words, server)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["MCP_ALLOWED_HOSTS", "MCP_ALLOWED_ORIGINS"])
def test_so_is_who_is_named_by_the_environment(
    server: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "a b")
    done = run_here("run", "--http", ":0", server)
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


# ---- a server that fails


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
    assert shown.count(expected[0]) == 1  # the first line says it, and no line after it
    for machinery in ("click", "mcp_bindgen/cli", "importlib", "asyncio/"):
        assert machinery not in shown


# ---- servers of other packages


FAST = '''
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("fast")


@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b
'''
LOW = """
import asyncio

import mcp.types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server


async def main():
    server = Server("low")

    @server.list_tools()
    async def tools():
        return [types.Tool(name="add", description="Adds.", inputSchema={"type": "object"})]

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.parametrize("text", [FAST, LOW], ids=["an object", "a script"])
def test_a_server_of_another_package_is_served_unchanged(text: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(text, encoding="utf-8")
    command = (*RUN, "--compat", str(tmp_path / "server.py"))
    done = run("call", "--list", "--", *command)
    assert done.returncode == 0, done.stderr
    assert b"Adds." in done.stdout


PROGRAM = """
import sys
from pathlib import Path


def main():
    Path("arguments.txt").write_text(" ".join(sys.argv), encoding="utf-8")


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("target", ["server.py", "server.py:main"])
def test_a_program_reads_its_own_arguments(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mcp_runtime.compat.aliases.install", lambda: None)
    Path("server.py").write_text(PROGRAM, encoding="utf-8")
    done = run_here("run", "--compat", target, "--", "--name", "Ada")
    assert done.returncode == 0, done.stderr
    assert Path("arguments.txt").read_text(encoding="utf-8") == "server.py --name Ada"
    assert sys.argv[1:] != ["--name", "Ada"]


def test_one_worker_serves_a_server_of_another_package(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(FAST, encoding="utf-8")
    done = run_here(
        "run", "--compat", "--workers", "2", "--http", "127.0.0.1:0", str(tmp_path / "server.py")
    )
    assert done.returncode == 2
    assert b"--compat goes with one worker" in done.stderr


@pytest.mark.parametrize(
    ("module", "requirement"),
    [
        ("httpx_sse", "httpx-sse"),
        ("typing_inspection.introspection", "typing-inspection"),
        ("key_value", "py-key-value-aio"),
    ],
)
def test_a_library_that_came_with_the_other_package_is_named(
    module: str, requirement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module.partition(".")[0], None)
    (tmp_path / "server.py").write_text(f"import {module}\n{FAST}", encoding="utf-8")
    done = run_here("run", str(tmp_path / "server.py"))
    assert done.returncode == 2
    assert f"Install it: pip install '{requirement}'" in done.stderr.decode()
