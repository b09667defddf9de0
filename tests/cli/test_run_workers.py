"""`mcp-bindgen run --workers`: several processes at one address, replaced and ended together."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import socket
from types import SimpleNamespace
from urllib.request import Request, urlopen

import pytest

from mcp_bindgen.cli.run import workers as supervisor
from tests.support.command import run, run_here
from tests.support.patience import eventually

RUN = (sys.executable, "-m", "mcp_bindgen", "run")
SERVER = """
import os
from mcp_runtime import Server
from mcp_runtime.limits import Limits
server = Server("w", "1", limits=Limits(drain_wait=60))
@server.tool
async def who() -> str:
    return str(os.getpid())
"""
WAITS = """
import asyncio, pathlib
@server.tool
async def wait(file: str) -> str:
    there = pathlib.Path(file)
    there.write_text(str(os.getpid()))
    while there.exists():
        await asyncio.sleep(0.01)
    return str(os.getpid())
"""
KEYS = """
@server.tool
async def keys() -> str:
    return os.environ["MCP_STATE_KEYS"]
"""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
}


@pytest.fixture
def server(tmp_path: Path) -> str:
    (tmp_path / "w.py").write_text(SERVER, "utf-8")
    return str(tmp_path / "w.py")


@contextmanager
def workers(server: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The supervisor, and the URL once a worker serves."""
    command = [*RUN, "--http", "127.0.0.1:0", "--workers", "2", *options, server]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        yield process, line_of(process, r"MCP at (\S+)")
    finally:
        process.terminate()
        process.communicate(timeout=30)


def line_of(process: subprocess.Popen[str], pattern: str) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if match := re.search(pattern, line):
            return match[1]
        assert "MCP at" not in line
    raise AssertionError("the server has ended")


def who(url: str) -> int:
    return int(call(url, "who"))


def all_workers(url: str) -> set[int]:
    """Both, as soon as each has answered."""
    pids: set[int] = set()
    with ThreadPoolExecutor(8) as pool:
        eventually(lambda: len(pids) == 2 or pids.update(pool.map(who, [url] * 16)))
    return pids


def call(url: str, tool: str, **arguments: str) -> str:
    params = {"name": tool, "arguments": arguments, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {**HEADERS, "Mcp-Name": tool}
    with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=30) as answer:
        return str(json.load(answer)["result"]["content"][0]["text"])


@pytest.mark.wide
def test_the_address_is_said_once_a_worker_that_dies_is_replaced_and_all_end_with_a_signal(
    server: str, tmp_path: Path
) -> None:
    with workers(server, "--store", f"sqlite:///{tmp_path}/store.db") as (process, url):
        killed: set[int] = set()
        for _ in range(2):  # with both gone, only a new one can answer
            killed.add(pid := who(url))
            os.kill(pid, signal.SIGKILL)
            assert line_of(process, r"worker (\d+) has ended") == str(pid)
        answered = {who(url) for _ in range(20)}
        assert len(killed) == 2
        assert not answered & killed
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 0, said
        assert "MCP at" not in said
        for pid in answered:
            assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("options", [[], ["--store", "memory:"]])
def test_workers_that_share_no_store_are_warned_about(server: str, options: list[str]) -> None:
    command = [*RUN, "--http", "127.0.0.1:0", "--workers", "2", *options, server]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "without --store" in process.stderr.readline()
    line_of(process, r"MCP at (\S+)")
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0


@pytest.mark.wide
def test_workers_that_die_again_and_again_are_given_up(tmp_path: Path) -> None:
    marked = "import os, sys\nif 'spawn_main' in str(sys.argv) or os.getppid() != {}: os._exit(3)\n"
    (tmp_path / "w.py").write_text(marked.format(os.getpid()) + SERVER, "utf-8")
    done = run("run", "--http", "127.0.0.1:0", "--workers", "2", tmp_path / "w.py")
    assert done.returncode == 2
    assert b"workers end again and again" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workers", "2"], b"--workers goes with --http"),
        (["--workers", "0", "--http", ":0"], b"0 is not in the range"),
        (["--store", "memory:"], b"--store go with --http"),
        (["--http", ":0", "--store", "nonsense"], b"is not the URL of a store"),
        (["--http", ":0", "--workers", "2", "--trace", "t"], b"goes with one worker"),
    ],
)
def test_options_that_cannot_go_together_are_refused(
    server: str, options: list[str], said: bytes
) -> None:
    done = run_here("run", *options, server)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.wide
def test_a_worker_that_ends_leaves_what_comes_to_the_others(tmp_path: Path) -> None:
    (tmp_path / "w.py").write_text(SERVER + WAITS, "utf-8")
    store, file = f"sqlite:///{tmp_path}/store.db", tmp_path / "waits"
    with workers(str(tmp_path / "w.py"), "--store", store) as (process, url):
        all_workers(url)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(call, url, "wait", file=str(file))
            eventually(lambda: file.exists() and file.read_text("ascii"))
            leaving = int(file.read_text("ascii"))
            os.kill(leaving, signal.SIGTERM)
            eventually(lambda: leaving not in {who(url) for _ in range(20)})
            file.unlink()
            assert int(answer.result(30)) == leaving
        assert line_of(process, r"worker (\d+) has ended \(0\)") == str(leaving)


@pytest.mark.wide
def test_workers_share_keys_where_the_environment_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.py").write_text(SERVER + KEYS, "utf-8")
    monkeypatch.setenv("MCP_STATE_KEYS", "")
    with workers(str(tmp_path / "w.py")) as (_, url):
        all_workers(url)
        (keys,) = {call(url, "keys") for _ in range(20)}
        assert len(keys) == 64


def test_workers_end_when_their_supervisor_is_killed(server: str) -> None:
    with workers(server) as (process, url):
        pids = all_workers(url)
        process.kill()
        try:
            process.communicate(timeout=60)  # until none of them has it open
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


class _Ended:
    """A worker that has ended."""

    pid, exitcode = 1, 0

    def start(self) -> None: ...

    def is_alive(self) -> bool:
        return False


def test_workers_that_have_served_for_long_are_replaced_however_many_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(supervisor, "time", SimpleNamespace(monotonic=lambda: now))
    context = SimpleNamespace(Process=lambda **_: _Ended())
    monkeypatch.setattr(supervisor, "get_context", lambda _: context)
    with socket() as listening:
        supervised = supervisor._Workers(8, "w", {"http": listening})
        for _ in range(8):
            supervised._start()
        now = 31.0
        assert supervised._replace_dead() == 0
        assert len(supervised._processes) == 8
        assert supervised._replace_dead() == 2
