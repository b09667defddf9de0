"""Random hostile peers of every revision: memory is bounded, and a small peer is always served.

`make test` has a number of actions, and `make long` the same for ten minutes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from tests.support.asgi_client import BOTH, initialize, mirrors, request
from tests.support.async_tests import run_in_real_time
from tests.support.attacked_server import MIB, PROCESS_BYTES
from tests.support.seeds import seed

SERVER: Final = Path(__file__).parents[2] / "support" / "attacked_server.py"
ROOT: Final = Path(__file__).parents[3]
HANDSHAKE: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
DEADLINE: Final = 60.0
ACTIONS: Final = 60
"""In `make test`, for each kind of server."""
LONG_SECONDS: Final = 150.0
"""For each kind of server; four kinds are ten minutes."""
CONNECTIONS: Final = 100
"""That the attacker has open at most."""
ANSWER: Final = 6 * MIB
"""The largest answer of the server; the kernel takes up to half of it."""
DOCUMENTED: Final = PROCESS_BYTES // 4 + CONNECTIONS * MIB // 8 + 4 * ANSWER + 32 * MIB
"""What a process may use beside `process_bytes`: the reserve of small messages, 128 KiB for each
connection in the buffers of uvicorn, four copies of the answer that is being written, and parsed
JSON and free lists of Python."""
EXACT: Final = {"MALLOC_MMAP_THRESHOLD_": "262144"}
"""Has the C library return large blocks at once. It keeps them else, and the memory of the process
is that of the past: 115 MiB instead of 39 for one seed."""
SECRET: Final = "secret-of-the-small-peer"
FAR: Final = "127.0.0.2"
"""The address of the attacker."""
KINDS: Final = ("stdio", "http", "http, principals", "http, sqlite")


def resident(pid: int) -> int:
    """Bytes of a process in memory."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


class Http:
    """One request over a socket of its own; its response is read on demand."""

    def __init__(self, url: str, headers: dict[str, str], address: str = "127.0.0.1") -> None:
        parts = urlsplit(url)
        self._address = address
        self._host, self._port, self._path = parts.hostname, parts.port, parts.path
        self._headers = headers
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def send(
        self, body: bytes, declared: int | None = None, method: str = "POST", **more: str
    ) -> Http:
        sock = socket.socket()
        if self._address == FAR:  # the kernel takes nothing off the server's hands
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.bind((self._address, 0))
        sock.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(sock, (str(self._host), int(self._port or 0)))
        self.reader, self.writer = await asyncio.open_connection(sock=sock, limit=64 * 1024)
        headers = {
            "Host": f"127.0.0.1:{self._port}",
            "Accept": BOTH if method == "POST" else "text/event-stream",
            "Content-Type": "application/json",
            "Content-Length": str(len(body) if declared is None else declared),
            "Connection": "close",
            **self._headers,
            **{name.replace("_", "-"): value for name, value in more.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(f"{method} {self._path} HTTP/1.1\r\n{head}\r\n".encode() + body)
        with suppress(ConnectionError):
            await asyncio.wait_for(self.writer.drain(), DEADLINE)
        return self

    async def response(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body; the body of a stream is that of its last event."""
        async with asyncio.timeout(DEADLINE):
            raw = await self.reader.read(-1)
        self.close()
        head, _, body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines[1:] if ": " in line)
        headers = {name.lower(): value for name, value in pairs}
        if headers.get("transfer-encoding") == "chunked":
            body = _unchunked(body)
        if "event-stream" in headers.get("content-type", ""):
            events = [part[6:] for part in body.split(b"\n") if part.startswith(b"data: {")]
            body = events[-1] if events else b""
        return int(lines[0].split()[1]), headers, body

    def close(self) -> None:
        self.writer.transport.abort()


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        count = int(size or b"0", 16)
        whole, body = whole + body[:count], body[count + 2 :]
    return whole


class SmallPeer:
    """Lists the tools and calls one, in a revision of its own; it is always served."""

    def __init__(self, url: str, user: dict[str, str]) -> None:
        self.url, self.user = url, user
        self.seconds: list[float] = []
        self.session = ""

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        said = request(method, params)
        headers = {**self.user, **mirrors(said)}
        started = time.monotonic()
        status, _, body = await (await Http(self.url, headers).send(_dump(said))).response()
        self.seconds.append(time.monotonic() - started)
        assert status == 200, (status, body[:500])
        return json.loads(body)["result"]

    async def is_served(self) -> None:
        listed = await self.ask("tools/list", {})
        assert len(listed["tools"]) == 17
        text = SECRET + "y" * 5000
        answer = await self.ask("tools/call", {"name": "echo", "arguments": {"text": text}})
        assert answer["content"][0]["text"] == text
        await self.shakes_hands()

    async def shakes_hands(self) -> None:
        """Begins a session, which is served."""
        revision = HANDSHAKE[0]
        begun = await Http(self.url, self.user).send(_dump(initialize(revision)))
        status, headers, body = await begun.response()
        assert status == 200, body
        self.session = headers["mcp-session-id"]
        said = {"mcp-session-id": self.session, "mcp-protocol-version": revision}
        listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        sent = await Http(self.url, {**self.user, **said}).send(_dump(listed))
        status, _, body = await sent.response()
        assert status == 200, body[:500]
        assert len(json.loads(body)["result"]["tools"]) == 17


def _dump(message: Any) -> bytes:
    return json.dumps(message).encode()


class Attacker:
    """Does one random hostile thing at a time; `seen` is what it got to read."""

    def __init__(self, url: str, user: dict[str, str], draw: random.Random) -> None:
        self.url, self.user, self.draw = url, user, draw
        self.open: list[Http] = []
        self.seen = b""
        self.sessions: list[dict[str, str]] = []
        self.victim = ""
        """The id of a session of the small peer."""

    async def act(self) -> str:
        actions: list[Callable[[], Awaitable[None]]] = [
            self.declare,
            self.call,
            self.call,
            self.batch,
            self.begin_sessions,
            self.stream,
            self.subscribe,
            self.begin_tasks,
            self.notify,
            self.babble,
            self.wait,
            self.steal,
            self.leave,
        ]
        action = self.draw.choice([*actions, *[self.call, self.stream, self.begin_tasks] * 4])
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await action()
        while len(self.open) > CONNECTIONS:
            self.open.pop(self.draw.randrange(len(self.open))).close()
        return action.__name__

    def size(self, most: int) -> int:
        return self.draw.choice((0, 4095, 5000, 60_000, most // 2, most, most, most))

    async def send(self, message: Any, session: bool = True, **more: Any) -> Http:
        headers = dict(self.user)
        if session and self.sessions and self.draw.random() < 0.9:
            headers |= self.draw.choice(self.sessions[-20:])
        elif isinstance(message, dict) and message.get("method") == "tools/call":
            message = request("tools/call", message["params"])
            headers |= mirrors(message)
        body = message if isinstance(message, bytes) else _dump(message)
        return await Http(self.url, headers, FAR).send(body, **more)

    def called(self, name: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": name, "arguments": arguments}
        id = self.draw.randrange(1 << 30)
        return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}

    async def read(self, one: Http) -> tuple[int, dict[str, str], bytes]:
        status, headers, body = await one.response()
        self.seen += body[:20_000]
        return status, headers, body

    # ---- what it does

    async def declare(self) -> None:
        for _ in range(self.draw.randrange(1, 20)):
            body = b"[" * self.size(500_000)
            self.open.append(await self.send(body, declared=4 * MIB))

    async def call(self) -> None:
        """Answers that it does not read, or some time."""
        for _ in range(self.draw.randrange(1, 12)):
            one = await self.send(self.called("large", size=self.size(ANSWER)))
            self.open.append(one)

    async def batch(self) -> None:
        calls = [self.called("large", size=self.size(300_000)) for _ in range(20)]
        self.open.append(await self.send([*calls, self.called("wait")]))

    async def begin_sessions(self) -> None:
        for _ in range(self.draw.randrange(1, 40)):
            revision = self.draw.choice(HANDSHAKE)
            capabilities = {"experimental": {"x": {"y": "z" * self.size(50_000)}}}
            sent = await self.send(initialize(revision, capabilities), session=False)
            status, headers, _ = await self.read(sent)
            if status == 200:
                named = {"mcp-session-id": headers["mcp-session-id"]}
                if revision != "2025-03-26":
                    named["mcp-protocol-version"] = revision
                self.sessions.append(named)

    async def stream(self) -> None:
        """Events that are kept, on streams that it leaves."""
        for _ in range(self.draw.randrange(1, 6)):
            one = await self.send(self.called("events", count=5, size=self.size(500_000)))
            if self.draw.random() < 0.5:
                await self.read(one)
            else:
                one.close()

    async def subscribe(self) -> None:
        for number in range(self.draw.randrange(1, 10)):
            params = {"uri": f"note://{number}{'x' * self.size(60_000)}"}
            said = {"jsonrpc": "2.0", "id": number, "method": "resources/subscribe"}
            await self.read(await self.send({**said, "params": params}))

    async def begin_tasks(self) -> None:
        for _ in range(self.draw.randrange(1, 10)):
            said = self.called("job", size=self.size(900_000))
            said["params"]["task"] = {"ttl": self.draw.choice((1, 60_000, 10**9, 10**400))}
            await self.read(await self.send(said))

    async def notify(self) -> None:
        names = ("made-up", "notifications/cancelled", "notifications/progress", "x" * 5000)
        for _ in range(self.draw.randrange(1, 10)):
            params = {"requestId": 1, "progressToken": 1, "progress": 1, "x": "y" * self.size(MIB)}
            said = {"jsonrpc": "2.0", "method": self.draw.choice(names), "params": params}
            await self.read(await self.send(said))

    async def babble(self) -> None:
        """Bytes that are no message."""
        nonsense = (b"\xff", b"[" * 200_000, b"{", b"[]", b'{"jsonrpc":"2.0","method":"\xff"}', b"")
        await self.read(await self.send(self.draw.choice(nonsense)))

    async def wait(self) -> None:
        for _ in range(self.draw.randrange(1, 12)):
            self.open.append(await self.send(self.called("wait", text="x" * self.size(MIB))))

    async def steal(self) -> None:
        """Tries a session of somebody else."""
        if not (self.victim and self.user):
            return
        headers = {**self.user, "mcp-session-id": self.victim}
        for method, body in (("POST", _dump(self.called("echo"))), ("GET", b""), ("DELETE", b"")):
            sent = await Http(self.url, headers, FAR).send(body, method=method)
            assert (await self.read(sent))[0] == 404

    async def leave(self) -> None:
        for one in self.open:
            one.close()
        self.open.clear()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


async def attack(kind: str, tmp_path: Path, goes_on: Callable[[int], bool]) -> None:
    draw = random.Random(seed(f"attacks {kind}"))
    arguments = ["stdio" if kind == "stdio" else "http"]
    if "sqlite" in kind:
        arguments.append(f"sqlite:///{tmp_path}/store.db")
    with (tmp_path / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            SERVER,
            *arguments,
            cwd=ROOT,
            env={**os.environ, **EXACT},
            limit=64 * MIB,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    try:
        await (_on_stdio if kind == "stdio" else _over_http)(kind, process, draw, goes_on)
    except BaseException:
        _say((tmp_path / "log").read_text("utf-8", "replace")[-3000:])
        raise
    finally:
        process.kill()
        assert process.stdin is not None
        process.stdin.close()
        await process.communicate()  # to the end of its output, so that no pipe is left open


async def _over_http(
    kind: str, process: asyncio.subprocess.Process, draw: random.Random, goes_on: Any
) -> None:
    assert process.stdout is not None
    url = (await asyncio.wait_for(process.stdout.readline(), DEADLINE)).decode().strip()
    users = [{"x-user": name} for name in ("eve", "ann")] if "principals" in kind else [{}, {}]
    attacker, small = Attacker(url, users[0], draw), SmallPeer(url, users[1])
    for _ in range(5):
        await small.is_served()
    base, worst, number = resident(process.pid), 0, 0
    try:
        while goes_on(number):
            attacker.victim = small.session
            what = await attacker.act()
            await small.is_served()
            worst = max(worst, resident(process.pid))
            assert worst - base <= PROCESS_BYTES + DOCUMENTED, (what, number, worst, base)
            number += 1
    finally:
        await attacker.leave()
    assert SECRET.encode() not in attacker.seen
    seconds = sorted(small.seconds)
    _say(
        f"{kind}: {number} actions, {(worst - base) / MIB:.0f} MiB more at the most,"
        f" p99 {seconds[len(seconds) * 99 // 100]:.3f} s"
    )


async def _on_stdio(
    kind: str, process: asyncio.subprocess.Process, draw: random.Random, goes_on: Any
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    sent, number, worst = process.stdin, 0, 0
    maker = Attacker("http://127.0.0.1:1/", {}, draw)

    async def answered(id: str) -> None:
        """Reads until a ping is answered."""
        sent.write(_dump({"jsonrpc": "2.0", "id": id, "method": "ping"}) + b"\n")
        async with asyncio.timeout(DEADLINE):
            while True:
                said = json.loads(await process.stdout.readline())  # type: ignore[union-attr]
                if isinstance(said, dict) and said.get("id") == id:
                    assert said["result"] == {}
                    return

    base = 0
    while goes_on(number):
        revision = draw.choice(HANDSHAKE)
        sent.write(_dump(initialize(revision)) + b"\n")
        sent.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        for _ in range(draw.randrange(1, 20)):
            calls = [maker.called("large", size=maker.size(500_000)) for _ in range(20)]
            lines = (
                [*calls, maker.called("wait")],
                maker.called("large", size=maker.size(2 * MIB)),
                maker.called("wait", text="x" * maker.size(MIB)),
                {"jsonrpc": "2.0", "method": "made-up", "params": {"x": "y" * maker.size(MIB)}},
            )
            line = draw.choice((*map(_dump, lines), b"\xff", b"[" * 5_000_000))
            sent.write(line + b"\n")
        await answered(f"ping {number}")
        base = base or resident(process.pid)
        worst = max(worst, resident(process.pid))
        assert worst - base <= PROCESS_BYTES + DOCUMENTED, (number, worst, base)
        number += 1
    _say(f"{kind}: {number} rounds, {(worst - base) / MIB:.0f} MiB more at the most")


@pytest.mark.wide
@pytest.mark.drawn
@pytest.mark.parametrize("kind", KINDS)
def test_random_hostile_peers_are_bounded(kind: str, tmp_path: Path) -> None:
    actions = ACTIONS // 4 if kind == "stdio" else ACTIONS
    run_in_real_time(lambda: attack(kind, tmp_path, lambda number: number < actions), 600)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_random_hostile_peers_are_bounded_for_minutes(kind: str, tmp_path: Path) -> None:
    end = time.monotonic() + LONG_SECONDS
    attacked = attack(kind, tmp_path, lambda number: time.monotonic() < end)
    run_in_real_time(lambda: attacked, 2 * LONG_SECONDS)
