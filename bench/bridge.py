"""Measures a bridge beside a relay that only copies lines, each in front of the same server.

The relay's client speaks the server's revision, since a relay translates nothing. Then nineteen
servers behind one bridge: the time from its start to their tools, beside that of the slowest server
by itself, and the bridge's memory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.pairs import Row
from bench.stdio import INITIALIZE, WORKS, Server, paired, peak_memory

__all__ = ["ROUTES", "Listing", "bridge", "listed", "many", "slow_servers"]

_HERE: Final = Path(__file__).parent / "servers"
_ROUNDS: Final = 25

ROUTES: Final = (
    ("2025-11-25", "2025-11-25"),
    ("2026-07-28", "2026-07-28"),
    ("2024-11-05", "2026-07-28"),
    ("2026-07-28", "2024-11-05"),
)
"""The revisions of the client and of the server."""

_BAR: Final = 0.67
"""A call takes at most half as long again as through the relay."""

_SERVERS: Final = 19
_SLOWEST: Final = 4.0
"""Seconds until the slowest server begins; the others begin before it, evenly spread."""
_LISTINGS: Final = 3
_LIST_BAR: Final = 0.77
"""All are listed after at most 1.3 times the time of the slowest."""
_MEMORY_BAR: Final = (40 + _SERVERS) * 2.0**20


def bridge() -> Iterator[Row]:
    """A typed `add(a, b)` through our bridge, beside a relay that copies lines; many servers."""
    for client, server in ROUTES:
        behind = (sys.executable, str(_HERE / "behind.py"), server)
        ours = Server((sys.executable, str(_HERE / "bridge.py"), *behind), client)
        relay = Server((sys.executable, str(_HERE / "relay.py"), *behind), server)
        for name, work in WORKS.items():
            sides = partial(work, ours), partial(work, relay)
            yield paired(f"{client} to {server}, {name}", _ROUNDS, *sides, _BAR)
        for side in (ours, relay):
            side.close()
    yield from many()


def many() -> Iterator[Row]:
    """Nineteen servers behind one bridge, beside the slowest of them by itself."""
    waits = [_SLOWEST * number / (_SERVERS - 1) for number in range(_SERVERS)]
    with tempfile.TemporaryDirectory() as folder:
        command = slow_servers(Path(folder), waits)
        memories: list[float] = []

        def together() -> float:
            listing = listed(command, 2 * _SERVERS)
            memories.append(listing.memory)
            return listing.seconds

        def alone() -> float:
            return listed(_slow(_SLOWEST), 2).seconds

        name = f"{_SERVERS} servers, start to list"
        yield paired(name, _LISTINGS, together, alone, _LIST_BAR)
        yield Row(
            f"{_SERVERS} servers, memory of the bridge", max(memories), None, _MEMORY_BAR, "B"
        )


def slow_servers(folder: Path, waits: Sequence[float]) -> list[str]:
    """Return the command of a bridge in front of servers that begin after some seconds."""
    commands = [_slow(wait) for wait in waits]
    servers = {
        f"s{number}": {"command": command[0], "args": command[1:]}
        for number, command in enumerate(commands)
    }
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}), "utf-8")
    return [sys.executable, "-m", "mcp_bindgen", "bridge", "--config", str(config)]


def _slow(seconds: float) -> list[str]:
    return [sys.executable, str(_HERE / "slow.py"), str(seconds)]


class Listing(NamedTuple):
    """Seconds from the start of a process to the list of its tools, and the most memory it had."""

    seconds: float
    memory: float


def listed(command: Sequence[str], tools: int) -> Listing:
    """List the tools of a server over stdio, and end it. Raises RuntimeError for another number."""
    begin = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as process:

        def say(**message: Any) -> None:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()

        say(id=1, method="initialize", params=INITIALIZE)
        _answer(process, 1)
        say(method="notifications/initialized")
        say(id=2, method="tools/list")
        count = len(_answer(process, 2)["result"]["tools"])
        seconds = time.perf_counter() - begin
        memory = peak_memory(process.pid)
        if count != tools:
            raise RuntimeError(f"{process.args!r} listed {count} of {tools} tools")
    return Listing(seconds, memory)


def _answer(process: subprocess.Popen[bytes], id: int) -> Any:
    assert process.stdout is not None
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == id and "method" not in message:
            return message
    raise RuntimeError(f"{process.args!r} ended")
