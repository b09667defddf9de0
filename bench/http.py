"""Measures servers over HTTP with prepared requests; the answers are checked afterwards.

All are applications on the same uvicorn, with uvloop and httptools where they exist; ours and the
bare one also without. The driver knows no more of HTTP than where an answer ends; what it costs
itself is seen on a server that knows no more either.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeAlias

from bench import peers
from bench.pairs import Pair, Row, row
from bench.quiet import quiet_machine
from bench.stdio import ERAS, INITIALIZE, is_sum

__all__ = [
    "COUNTS",
    "OURS",
    "SERVERS",
    "Connection",
    "Served",
    "http",
    "paired",
    "post",
    "rounds_of",
]

SERVERS: Final = Path(__file__).parent / "servers" / "http"
OURS: Final = (sys.executable, str(SERVERS / "ours.py"))
_BARE: Final = (sys.executable, str(SERVERS / "bare.py"))
_CANNED: Final = (sys.executable, str(SERVERS / "canned.py"))

COUNTS: Final = (1, 32)
_ROUNDS: Final = 15
_CALLS: Final = 320
"""Of one round, after which the next side has its turn."""
_PATIENCE: Final = 30.0
"""Seconds after which a server that does not answer has failed."""

_COMMON: Final = {
    "Host": "127.0.0.1:8000",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
_MIRRORED: Final = {"Mcp-Method": "tools/call", "Mcp-Name": "add"}

_BARS: Final = {"bare": 0.5, "bare on h11": 0.7, "mcp": 4.0}


def post(headers: Mapping[str, str], **members: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":"))
    sent = {**_COMMON, **headers, "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return f"POST /mcp HTTP/1.1\r\n{head}\r\n{body}".encode()


class Connection:
    """One call at a time, on a connection that is kept."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), _PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin = 0.0
        self._got = b""

    def send(self, request: bytes) -> None:
        self.begin = time.perf_counter()
        self.socket.sendall(request)

    def read(self) -> bytes | None:
        """The answer, when it is whole."""
        data = self.socket.recv(1 << 16)
        if not data:
            raise RuntimeError("the server has closed a connection")
        self._got += data
        if not _is_whole(self._got):
            return None
        got, self._got = self._got, b""
        return got

    def ask(self, request: bytes) -> bytes:
        self.send(request)
        while (answer := self.read()) is None:
            pass
        return answer


def _is_whole(answer: bytes) -> bool:
    end = answer.find(b"\r\n\r\n")
    at = answer.find(b"content-length: ", 0, end) + 16
    size = int(answer[at : answer.index(b"\r", at)]) if at >= 16 else 0
    return end >= 0 and len(answer) == end + 4 + size


@dataclass(frozen=True, slots=True)
class Round:
    """Seconds: what a call takes, others beside it; and within which 99 of 100 were answered."""

    each: float
    p99: float


class Served:
    """A server process, and connections to it; a `session` is begun where the era has one.

    `extra` gives the headers that each request has beside the usual ones.
    """

    def __init__(
        self,
        command: Sequence[str],
        era: str,
        *,
        session: bool = True,
        extra: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        handshake, self.carried = ERAS[era]
        self.extra = extra
        self.next = 1
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        port = int(self.process.stdout.readline())
        self.connections = [Connection(port) for _ in range(max(COUNTS))]
        self.headers = {"MCP-Protocol-Version": era} | ({} if handshake else _MIRRORED)
        try:
            if handshake and session:
                self._begin()
            self.round(max(COUNTS))
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        first = self.connections[0]
        answer = first.ask(post(self.extra(), id=0, method="initialize", params=INITIALIZE))
        for line in answer.partition(b"\r\n\r\n")[0].decode().split("\r\n"):
            name, _, value = line.partition(": ")
            if name.lower() == "mcp-session-id":
                self.headers["Mcp-Session-Id"] = value
        headers = {**self.headers, **self.extra()}
        first.ask(post(headers, method="notifications/initialized"))

    def _calls(self, count: int) -> list[bytes]:
        """Requests that were never sent before: ids are not used twice."""
        ids = range(self.next, self.next + count)
        self.next += count
        params = {"name": "add", "arguments": {"a": 2, "b": 3}, **self.carried}
        return [
            post({**self.headers, **self.extra()}, id=id, method="tools/call", params=params)
            for id in ids
        ]

    def _check(self, answers: Sequence[bytes]) -> None:
        """Every call of a round was answered, once, with the sum."""
        for answer in answers:
            if not answer.startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(f"{self.process.args!r} answered {answer!r}")
        bodies = [json.loads(answer.partition(b"\r\n\r\n")[2]) for answer in answers]
        if {body["id"] for body in bodies if is_sum(body)} != set(
            range(self.next - _CALLS, self.next)
        ):
            raise RuntimeError(f"{self.process.args!r} did not answer every call: {answers[0]!r}")

    def round(self, connections: int) -> Round:
        requests = self._calls(_CALLS)
        begin = time.perf_counter()
        answers, times = _drive(self.connections[:connections], requests)
        seconds = time.perf_counter() - begin
        self._check(answers)
        return Round(seconds / _CALLS, statistics.quantiles(times, n=100)[98])

    def close(self) -> None:
        for connection in self.connections:
            connection.socket.close()
        self.process.terminate()
        self.process.wait(_PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


def _drive(
    connections: Sequence[Connection], requests: Sequence[bytes]
) -> tuple[list[bytes], list[float]]:
    """Each connection sends its next request when its last is answered."""
    answers: list[bytes] = []
    times: list[float] = []
    waiting = iter(requests)
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.send(next(waiting))
        while len(answers) < len(requests):
            ready = selector.select(_PATIENCE)
            if not ready:
                raise RuntimeError(f"no answer within {_PATIENCE:g} s")
            for key, _ in ready:
                if (answer := key.data.read()) is None:
                    continue
                times.append(time.perf_counter() - key.data.begin)
                answers.append(answer)
                if (request := next(waiting, None)) is not None:
                    key.data.send(request)
    return answers, times


_Rounds: TypeAlias = list[tuple[Round, bool]]


def rounds_of(sides: Mapping[str, Served], connections: int) -> dict[str, _Rounds]:
    """Of all sides, each in its turn, on one processor with the driver.

    Where the system chooses, it puts one side there and another not, and they differ by half.
    """
    rounds: dict[str, _Rounds] = {name: [] for name in sides}
    with quiet_machine() as machine:
        for _ in range(_ROUNDS):
            for name, side in sides.items():
                work = partial(side.round, connections)
                rounds[name].append(machine.undisturbed(work, side.process.pid))
    return rounds


def paired(
    ours: _Rounds, peer: _Rounds, what: Callable[[Round], float]
) -> Iterator[tuple[Pair, bool]]:
    for (mine, settled), (theirs, undisturbed) in zip(ours, peer, strict=True):
        yield (what(mine), what(theirs)), settled and undisturbed


def _sides(era: str) -> dict[str, tuple[Sequence[str], bool]]:
    """How each is started, and whether it has sessions where the era has them.

    The peer is there without sessions too.
    """
    theirs = (peers.python(), str(SERVERS / "theirs.py"))
    sides: dict[str, tuple[Sequence[str], bool]] = {
        "ours": (OURS, True),
        "bare": (_BARE, False),
        "ours on h11": ((*OURS, "h11"), True),
        "bare on h11": ((*_BARE, "h11"), False),
        "mcp": (theirs, True),
        "mcp without sessions": ((*theirs, "stateless"), False),
        "the driver": (_CANNED, False),
    }
    if not ERAS[era][0]:
        del sides["mcp without sessions"]
    return sides


def _rows(era: str, connections: int, sides: Mapping[str, Served]) -> Iterator[Row]:
    rounds = rounds_of(sides, connections)
    ours = {"bare on h11": rounds.pop("ours on h11")}
    others = rounds.pop("ours")
    for peer, theirs in rounds.items():
        name, mine = f"{era}, {connections} at a time, {peer}", ours.get(peer, others)
        yield row(name, paired(mine, theirs, attrgetter("each")), _BARS.get(peer))
        p99 = paired(mine, theirs, attrgetter("p99"))
        yield row(f"{name}, p99", p99, {"bare": 0.5}.get(peer))


def http() -> Iterator[Row]:
    """A typed `add(a, b)` beside a bare ASGI echo and `mcp`; for scale: the driver by itself."""
    for era in ERAS:
        with ExitStack() as servers:
            sides = {
                name: servers.enter_context(closing(Served(command, era, session=session)))
                for name, (command, session) in _sides(era).items()
            }
            for connections in COUNTS:
                yield from _rows(era, connections, sides)
