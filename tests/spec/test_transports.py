"""Standard streams of real processes, and a transport that somebody else has made."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client, Server
from mcp_runtime.client.connection import ClientWireConnection, ConnectionOwner
from mcp_runtime.transports.memory import pair
from mcp_runtime.transports.wire import Receiver
from tests.support.json_peers import ALL, HANDSHAKE, NEWEST, RawClient

pytestmark = pytest.mark.real_time

each = pytest.mark.parametrize("revision", ALL)

SERVER: Final = """
import os, subprocess, sys
from mcp_runtime import Server
server = Server("polluted", "1")

@server.tool
def shout(text: str) -> str:
    print("printed by a tool")
    os.write(1, b"written past Python\\n")
    subprocess.run(["echo", "by a child"])
    sys.stderr.write("said on stderr\\n")
    return text

server.run()
"""


def messages(revision: str) -> list[dict[str, Any]]:
    """What a client writes, whole, with a handshake if the revision has one."""
    core = "io.modelcontextprotocol/"
    meta = {f"{core}protocolVersion": revision, f"{core}clientCapabilities": {}}
    params = {"_meta": meta} if revision == NEWEST else {}
    call = {"name": "shout", "arguments": {"text": "a\nb"}} | params
    hello = {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
    }
    first = [
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    asked = [{"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": call}]
    return (first if revision in HANDSHAKE else []) + asked


@pytest.mark.requirement("transport.stdio.stdout-clean")
@pytest.mark.requirement("transport.stdio.shutdown.exit-on-eof")
@pytest.mark.requirement("transport.stdio.no-inner-newline")
@pytest.mark.drawn
@each
def test_a_server_writes_messages_only_whatever_its_tools_print(revision: str, root: Path) -> None:
    env = {**os.environ, "PYTHONPATH": f"{root / 'runtime'}:{root / 'generated'}"}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages(revision):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        lines: list[bytes] = []
        while not lines or b'"call"' not in lines[-1]:
            lines.append(process.stdout.readline())
            assert lines[-1]
        began = time.monotonic()
        process.stdin.close()
        lines += process.stdout.readlines()
        assert process.wait(10) == 0
        assert time.monotonic() - began < 5
        assert process.stderr is not None
        said = process.stderr.read()
    for line in lines:
        assert json.loads(line)["jsonrpc"] == "2.0"
    for stray in (b"printed by a tool", b"written past Python", b"by a child", b"on stderr"):
        assert stray in said


RECORDER: Final = """
import json, os, signal, sys
if len(sys.argv) > 2:
    signal.signal(signal.SIGTERM, lambda *a: open(sys.argv[1], "ab").write(b"SIGTERM\\n"))
sys.stderr.write("Error: fatal!\\n")
record = open(sys.argv[1], "ab", buffering=0)
for line in sys.stdin.buffer:
    record.write(line)
    message = json.loads(line)
    if message.get("method") == "initialize":
        info = {"name": "r", "version": "1"}
        told = {"protocolVersion": "REVISION", "capabilities": {"tools": {}}, "serverInfo": info}
    elif message.get("method") == "server/discover" and "REVISION" == "2026-07-28":
        told = {"supportedVersions": ["REVISION"], "capabilities": {"tools": {}}}
    elif message.get("method") == "tools/list":
        told = {"tools": []}
    else:
        continue
    if "REVISION" == "2026-07-28":
        told |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": told}) + "\\n")
    sys.stdout.flush()
record.write(b"EOF\\n")
while len(sys.argv) > 2:
    signal.pause()
"""


@pytest.mark.requirement("transport.stdio.stdin-clean")
@pytest.mark.requirement("transport.stdio.client-support")
@pytest.mark.requirement("transport.stdio.stderr-not-failure")
@pytest.mark.requirement("transport.stdio.shutdown.close-stdin")
@pytest.mark.requirement("transport.stdio.shutdown.wait")
@each
async def test_a_client_writes_messages_only_and_ends_by_closing_the_input(
    revision: str, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    command = [sys.executable, "-c", RECORDER.replace("REVISION", revision), str(record)]
    async with Client.stdio(command, revisions=[revision], stderr="capture") as client:
        assert await client.list_tools() == []
    *lines, last = record.read_bytes().splitlines()
    assert last == b"EOF"
    assert [json.loads(line)["jsonrpc"] for line in lines] == ["2.0"] * len(lines)
    assert json.loads(lines[-1])["method"] == "tools/list"


@pytest.mark.requirement("transport.stdio.shutdown.force")
@pytest.mark.requirement("transport.stdio.shutdown.sigterm")
@pytest.mark.requirement("transport.stdio.shutdown.sigkill")
@pytest.mark.requirement("transport.stdio.shutdown.wait")
@pytest.mark.requirement("lifecycle.errors.shutdown-timeout")
@pytest.mark.parametrize("revision", ["2024-11-05", NEWEST])
async def test_a_server_that_does_not_end_is_told_and_then_killed(
    revision: str, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    text = RECORDER.replace("REVISION", revision)
    command = [sys.executable, "-c", text, str(record), "stubborn"]
    async with Client.stdio(command, revisions=[revision], stderr="drop") as client:
        await client.list_tools()
        began = time.monotonic()
    spent = time.monotonic() - began
    assert record.read_bytes().splitlines()[-2:] == [b"EOF", b"SIGTERM"]
    assert 2 <= spent < 10


# ---- a transport of one's own


class Sockets:
    """A wire over a stream socket, as somebody may write it: lines as on standard streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    async def of(cls, end: socket.socket) -> Sockets:
        return cls(*await asyncio.open_connection(sock=end))

    def start(self, receiver: Receiver) -> None:
        async def read() -> None:
            while chunk := await self._reader.read(7):
                receiver.received(chunk)
            receiver.ended()

        self._reading = asyncio.create_task(read())

    @property
    def waiting(self) -> int:
        return self._writer.transport.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def drain(self) -> None:
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        if self._reading is not None:
            await self._reading


@pytest.mark.requirement("transport.custom.keep-lifecycle")
@pytest.mark.requirement("transport.custom.keep-patterns")
@pytest.mark.requirement("transport.custom.reuse-framing")
@each
async def test_a_transport_of_ones_own_changes_nothing_that_is_said(revision: str) -> None:
    server = Server("s", "1")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    async def conversation(client: RawClient) -> list[Any]:
        if not client.is_modern:
            await client.shake_hands()
        await client.tool("add", {"a": 1, "b": 2})
        await client.error("no/such")
        await client.result("tools/list")
        return client.raw

    seen = []
    for kind in ("memory", "sockets"):
        if kind == "memory":
            ours, theirs = pair()
        else:
            one, other = socket.socketpair()
            ours, theirs = await Sockets.of(one), await Sockets.of(other)
        serving = asyncio.create_task(server.serve(theirs))
        client = RawClient(ours, revision)
        seen.append(list(await conversation(client)))
        await client.end()
        await serving
    assert seen[0] == seen[1]

    async def reach(stack: Any, owner: ConnectionOwner) -> ClientWireConnection:
        one, other = socket.socketpair()
        wire = await Sockets.of(one)
        serving = asyncio.create_task(server.serve(await Sockets.of(other)))

        async def end() -> None:
            await wire.close()
            await serving

        stack.push_async_callback(end)
        return ClientWireConnection(owner, wire)

    async with Client(reach, revisions=[revision]) as client_:
        assert client_.revision == revision
        assert (await client_.call_tool("add", {"a": 1, "b": 2})).is_error is not True
