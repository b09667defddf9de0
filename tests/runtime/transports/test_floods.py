"""A line without end, more calls than there is room for, peers that are gone in mid-sentence."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from mcp_runtime import Client, Limits, Server
from mcp_runtime.client.connection import ClientWireConnection, ConnectionOwner
from mcp_runtime.errors import Disconnected, TooMuch
from mcp_runtime.revisions import UNSET
from mcp_runtime.transports.memory import pair
from mcp_runtime.transports.wire import Wire
from tests.support.raw_peer import connected
from tests.support.session_pair import HANDSHAKE, initialize, notification, request

MIB: Final = 1024 * 1024
FLOOD: Final = 256 * MIB
CHUNK: Final = b"x" * 65_536
ROOM: Final = Limits().line_bytes + 2 * MIB
SHAKEN: Final = HANDSHAKE[-1]
CALLS: Final = 10_000

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc"
)


def status(pid: int | str, name: str) -> int:
    """Bytes, of a line of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


def forget_peak(pid: int | str) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


IN_MEMORY: Final = f"""
import asyncio, json, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[3])!r})
from mcp_runtime import Server
from tests.support.raw_peer import connected
from tests.runtime.transports.test_floods import CHUNK, FLOOD, forget_peak, status

async def main():
    async with connected(Server("s", "1"), {SHAKEN!r}) as peer:
        await peer.settles()
        forget_peak("self")
        before = status("self", "VmRSS")
        for _ in range(FLOOD // len(CHUNK)):
            peer.wire.write(CHUNK)
            await peer.wire.drain()
            await asyncio.sleep(0)
        peer.wire.write(b"\\n")
        answer = await peer.asks(7, "ping")
        peak = status("self", "VmHWM") - before
        print(json.dumps([peak, answer, peer.came]))

asyncio.run(main())
"""


@pytest.mark.wide
@needs_proc
def test_a_line_without_end_in_memory_costs_little_and_the_next_request_is_answered() -> None:
    ran = subprocess.run([sys.executable, "-c", IN_MEMORY], capture_output=True, timeout=60)
    assert ran.returncode == 0, ran.stderr.decode()
    peak, answer, came = json.loads(ran.stdout)
    assert answer == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert [message["error"]["code"] for message in came] == [-32600]
    assert peak <= ROOM


SERVE: Final = "from mcp_runtime import Server; Server('s', '1').run()"


@needs_proc
def test_a_line_without_end_over_stdio_costs_little_and_the_next_request_is_answered() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        opening = request(1, "initialize", initialize(SHAKEN))
        server.stdin.write(opening + b"\n" + notification("notifications/initialized") + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        forget_peak(server.pid)
        before = status(server.pid, "VmRSS")
        for _ in range(FLOOD // len(CHUNK)):
            server.stdin.write(CHUNK)
        server.stdin.write(b"\n" + request(7, "ping") + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["error"]["code"] == -32600
        assert json.loads(server.stdout.readline()) == {"jsonrpc": "2.0", "id": 7, "result": {}}
        assert status(server.pid, "VmHWM") - before <= ROOM
        server.stdin.close()
        assert server.wait(10) == 0


# ---- many calls


def waiting(limits: Limits) -> tuple[Server, asyncio.Event]:
    server, may_end = Server("s", "1", limits=limits), asyncio.Event()

    @server.tool
    async def wait(number: int) -> int:
        await may_end.wait()
        return number

    return server, may_end


@pytest.mark.wide
async def test_ten_thousand_calls_in_flight_are_each_answered() -> None:
    limits = Limits(in_flight=CALLS)
    server, may_end = waiting(limits)
    async with Client(server, limits=limits) as client:
        calls = [
            asyncio.create_task(client.call_tool("wait", {"number": number}))
            for number in range(CALLS)
        ]
        await asyncio.sleep(0)
        with pytest.raises(TooMuch):
            await client.list_tools()
        may_end.set()
        results = await asyncio.gather(*calls)
        contents = [result.structured_content for result in results]
        assert contents == [{"result": number} for number in range(CALLS)]


async def test_of_ten_thousand_calls_those_over_the_limit_are_refused_and_the_others_answered() -> (
    None
):
    server, may_end = waiting(Limits())
    async with connected(server, SHAKEN) as peer:
        params = {"name": "wait", "arguments": {"number": 1}}
        peer.say(*(request(number, "tools/call", params) for number in range(CALLS)))
        busy = [await peer.hears() for _ in range(CALLS - Limits().in_flight)]
        assert {message["error"]["code"] for message in busy} == {-32000}
        may_end.set()
        done = [await peer.hears() for _ in range(Limits().in_flight)]
        assert all("result" in message for message in done)
        assert len(Counter(message["id"] for message in busy + done)) == CALLS


# ---- peers that are gone


class Half:
    """A server that says `count` bytes of its answer to a method, and is gone."""

    def __init__(self, wire: Wire, method: str, count: int) -> None:
        self.wire, self.method, self.count = wire, method, count
        self.ending: asyncio.Task[None] | None = None
        wire.start(self)

    def received(self, chunk: bytes) -> None:
        for line in chunk.splitlines():
            message = json.loads(line)
            if "id" in message:
                self.answer(message)

    def answer(self, message: Any) -> None:
        answer = half_answer(message["id"], message["method"])
        if message["method"] == self.method:
            self.wire.write(answer[: self.count])
            self.ending = asyncio.create_task(self.wire.close())
        else:
            self.wire.write(answer)

    def ended(self) -> None:
        pass


def half_answer(id: Any, method: str) -> bytes:
    info = {"name": "é\u2028", "version": "1"}
    opened = {"protocolVersion": SHAKEN, "capabilities": {"tools": {}}, "serverInfo": info}
    result = opened if method == "initialize" else {"tools": []}
    text = json.dumps({"jsonrpc": "2.0", "id": id, "result": result}, ensure_ascii=False)
    return text.encode() + b"\n"


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_server_that_is_gone_at_any_byte_of_an_answer_is_an_error_of_its_kind(
    method: str,
) -> None:
    whole = len(half_answer(1, method))

    async def one(count: int) -> bool:
        async def connect(stack: AsyncExitStack, owner: ConnectionOwner) -> ClientWireConnection:
            ours, theirs = pair()
            stack.push_async_callback(ours.close)
            Half(theirs, method, count)
            return ClientWireConnection(owner, ours)

        try:
            async with Client(connect, revisions=[SHAKEN]) as client:
                if method == "initialize":
                    return True
                return await client.list_tools() == []
        except Disconnected:
            return False

    before = asyncio.all_tasks()
    async with asyncio.timeout(20):
        whole_ones = [count for count in range(whole + 1) if await one(count)]
    assert whole_ones == [whole]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_a_client_that_is_gone_at_any_byte_of_an_answer_leaves_nothing_behind() -> None:
    server, may_end = waiting(Limits())
    may_end.set()
    params = {"name": "wait", "arguments": {"number": 1}}
    frames = request(1, "tools/call", params) + b"\n" + request(2, "ping") + b"\n"

    for count in range(len(frames) + 1):
        async with connected(server, SHAKEN) as peer:
            peer.wire.write(frames[:count])


PROGRAM: Final = """
import json, sys
spoken, method, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    info = {"name": "x", "version": "1"}
    opened = {"protocolVersion": spoken, "capabilities": {"tools": {}}, "serverInfo": info}
    result = opened if message["method"] == "initialize" else {"tools": []}
    answer = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + chr(10)
    sys.stdout.write(answer[:count] if message["method"] == method else answer)
    sys.stdout.flush()
    if message["method"] == method:
        break
"""


@pytest.mark.real_time
@pytest.mark.parametrize("count", [0, 1, 20, 45, 46])
async def test_a_child_that_is_gone_in_mid_answer_is_an_error_of_its_kind(count: int) -> None:
    command = [sys.executable, "-S", "-c", PROGRAM, SHAKEN, "tools/list", str(count)]
    async with Client.stdio(command, revisions=[SHAKEN]) as client:
        with pytest.raises(Disconnected):
            await client.list_tools()
        with pytest.raises(Exception, match="closed"):
            await client.request("ping", UNSET)
