"""Measures servers over stdio with prepared lines; answers are counted by their newlines.

No SDK stands between, and the driver decodes nothing while the clock runs; afterwards every answer
is looked at. What the driver itself costs is seen on `cat`, which answers a line with that line.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from bench import peers
from bench.pairs import PAIRS, Pair, Row, row
from bench.quiet import quiet_machine

__all__ = ["ERAS", "INITIALIZE", "WORKS", "Server", "is_sum", "paired", "peak_memory", "stdio"]

_HERE: Final = Path(__file__).parent / "servers"
_OURS: Final = (sys.executable, str(_HERE / "ours.py"))
_BARE: Final = (sys.executable, str(_HERE / "bare.py"))
_CAT: Final = ("cat",)

_IN_FLIGHT: Final = 32
_ROUNDS: Final = 25
_ROUND: Final = 0.05
"""Seconds that one side works before the other has its turn."""
_PATIENCE: Final = 30.0
"""Seconds after which a server that does not answer has failed."""

_CLIENT: Final = {"name": "bench", "version": "1"}
_META: Final = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": _CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
INITIALIZE: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}

ERAS: Final[dict[str, tuple[bool, dict[str, Any]]]] = {
    "2025-11-25": (True, {}),
    "2026-07-28": (False, _META),
}
"""Whether a session begins with a handshake, and what every call carries."""

_BARS: Final = {"start to first answer": 4, "one at a time": 5, "32 in flight": 25, "memory": 2}


def _line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}, separators=(",", ":")).encode() + b"\n"


class Server:
    """A server process from its first answer on."""

    def __init__(self, command: Sequence[str], era: str) -> None:
        self.handshake, self.carried = ERAS.get(era, (True, {}))
        self.next = 1
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        begin = time.perf_counter()
        self.process = subprocess.Popen(
            command, bufsize=0, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        if self.handshake:
            shaken = {**INITIALIZE, "protocolVersion": era}
            self._ask([_line(id=0, method="initialize", params=shaken)])
            os.write(self.input, _line(method="notifications/initialized"))
        self._check(1, self._ask(self._calls(1)))
        self.start = time.perf_counter() - begin

    def _calls(self, count: int) -> list[bytes]:
        """Lines that were never sent before: ids are not used twice."""
        ids = range(self.next, self.next + count)
        self.next += count
        params = {"name": "add", "arguments": {"a": 2, "b": 3}, **self.carried}
        return [_line(id=id, method="tools/call", params=params) for id in ids]

    def _ask(self, lines: list[bytes]) -> bytes:
        """One after the other: each is sent when the one before is answered."""
        answers: list[bytes] = []
        for line in lines:
            os.write(self.input, line)
            answers.append(self._read())
            while not answers[-1].endswith(b"\n"):
                answers.append(self._read())
        return b"".join(answers)

    def _read(self) -> bytes:
        data = os.read(self.output, 1 << 16)
        if not data:
            raise RuntimeError(f"{self.process.args!r} ended")
        return data

    def _flood(self, lines: list[bytes]) -> bytes:
        """As many in flight as may be, each answer letting one more in."""
        answers: list[bytes] = []
        os.write(self.input, b"".join(lines[:_IN_FLIGHT]))
        sent, open = _IN_FLIGHT, _IN_FLIGHT
        while open:
            answers.append(self._read())
            done = answers[-1].count(b"\n")
            more = lines[sent : sent + done]
            os.write(self.input, b"".join(more))
            sent += len(more)
            open += len(more) - done
        return b"".join(answers)

    def _check(self, count: int, answers: bytes) -> None:
        """Every call of a round was answered, once, with the sum."""
        wanted = set(range(self.next - count, self.next))
        lines = [json.loads(line) for line in answers.splitlines()]
        right = {line["id"] for line in lines if is_sum(line)}
        if right != wanted or len(lines) != count:
            raise RuntimeError(f"{self.process.args!r} answered {answers[:1000]!r}")

    def one_at_a_time(self) -> float:
        """The median of what a call takes, in seconds."""
        lines, times, answers = self._calls(self._turns(self._ask)), [], []
        for line in lines:
            begin = time.perf_counter()
            answers.append(self._ask([line]))
            times.append(time.perf_counter() - begin)
        self._check(len(lines), b"".join(answers))
        return statistics.median(times)

    def in_flight(self) -> float:
        """Seconds a call, with others in flight beside it."""
        lines = self._calls(self._turns(self._flood))
        begin = time.perf_counter()
        answers = self._flood(lines)
        seconds = time.perf_counter() - begin
        self._check(len(lines), answers)
        return seconds / len(lines)

    def _turns(self, work: Callable[[list[bytes]], bytes]) -> int:
        """How many calls fill a round."""
        begin = time.perf_counter()
        self._check(2 * _IN_FLIGHT, work(self._calls(2 * _IN_FLIGHT)))
        each = (time.perf_counter() - begin) / (2 * _IN_FLIGHT)
        return max(2 * _IN_FLIGHT, int(_ROUND / each))

    def memory(self) -> float:
        """The most that it ever held, in bytes."""
        return peak_memory(self.process.pid)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(_PATIENCE)
        self.process.stdout.close()


def peak_memory(process: int) -> float:
    """The most bytes that a process ever held."""
    status = Path(f"/proc/{process}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return float(peak.split()[1]) * 1024


def is_sum(answer: dict[str, Any]) -> bool:
    """Whether it is the answer to the call (or, from an echo, the call).

    Revisions before structured content have its text alone.
    """
    result = answer.get("result", {})
    if "structuredContent" in result:
        return bool(result["structuredContent"] == {"result": 5})
    texts = [block.get("text") for block in result.get("content", ())]
    return texts in (["5"], ['{"result":5}']) or answer.get("method") == "tools/call"


def _start(command: Sequence[str], era: str) -> float:
    server = Server(command, era)
    server.close()
    return server.start


def _measure(
    name: str, command: Sequence[str], peer: Sequence[str], era: str, bars: Mapping[str, float]
) -> Iterator[Row]:
    """All that is measured of a server, beside the peer; a start of each warms up."""
    starts = partial(_start, command, era), partial(_start, peer, era)
    for start in starts:
        start()
    one, other = Server(command, era), Server(peer, era)
    yield paired(f"{name}, {_START}", PAIRS, *starts, bars.get(_START))
    for what, work in WORKS.items():
        sides = partial(work, one), partial(work, other)
        yield paired(f"{name}, {what}", _ROUNDS, *sides, bars.get(what))
    yield Row(f"{name}, memory", one.memory(), other.memory(), bars.get("memory"), "B")
    one.close()
    other.close()


_START: Final = "start to first answer"
WORKS: Final = {"one at a time": Server.one_at_a_time, "32 in flight": Server.in_flight}


def paired(
    name: str,
    rounds: int,
    one: Callable[[], float],
    other: Callable[[], float],
    bar: float | None,
) -> Row:
    """Medians of interleaved rounds, and the ratio of each pair."""

    def pair() -> Pair:
        return one(), other()

    with quiet_machine() as machine:
        pairs = [machine.undisturbed_anywhere(pair) for _ in range(rounds)]
    return row(name, pairs, bar)


def stdio() -> Iterator[Row]:
    """A typed `add(a, b)` over stdio beside `mcp`; for scale: a bare loop, and `cat`."""
    theirs = (peers.python(), str(_HERE / "theirs.py"))
    for era in ERAS:
        yield from _measure(era, _OURS, theirs, era, _BARS)
    for name, command in {"a bare loop": _BARE, "cat": _CAT}.items():
        yield from _measure(name, command, theirs, "2026-07-28", {})
