"""What a client of a peer sees of a server of a peer: the same whoever they are, but for a table.

Every server offers the same tools, resources and prompts; every client tries them all and tells
what it saw. The programs are in peers/ and node/.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.peers import python
from mcp_bindgen.cli.validate import Bindings
from mcp_bindgen.messages import Text
from mcp_bindgen.verdicts import Judge
from tests.interop import node

__all__ = [
    "CLIENTS",
    "SERVERS",
    "Client",
    "Server",
    "agreed",
    "expected",
    "invalid",
    "seen",
    "tapped",
]

HANDSHAKE: Final = "2025-11-25"
PER_REQUEST: Final = "2026-07-28"
PATIENCE: Final = 60
HERE: Final = Path(__file__).parent
TAP: Final = str(HERE / "tap.py")

TOOLS: Final = ["add", "ask", "echo", "fail", "grow", "sample", "wait", "where", "work"]
STEPS: Final = [[1, 3], [2, 3], [3, 3]]
WORDS: Final = "é\n\u2028😀"


@dataclass(frozen=True, slots=True)
class Client:
    """A client program, and what it tells otherwise than the others do.

    `modes` are what it can be asked for, each with the revision that it wants then; one that is
    called as a revision takes no other.
    """

    name: str
    modes: dict[str, str]
    drops_progress: bool = False
    differs: dict[str, Any] = field(default_factory=dict)
    differs_unasked: dict[str, Any] = field(default_factory=dict)

    def command(self, mode: str, server: Sequence[str]) -> list[str]:
        return _command(self.name, mode, *server)


@dataclass(frozen=True, slots=True)
class Server:
    """A server program, and in what its answers differ from the others'."""

    name: str
    revisions: tuple[str, ...]
    wraps_text: bool = False
    differs: dict[str, Any] = field(default_factory=dict)
    differs_in_handshake: dict[str, Any] = field(default_factory=dict)

    def command(self) -> list[str]:
        return _command(self.name)


def _command(name: str, *arguments: str) -> list[str]:
    file = name.replace("-", "_")
    if name.startswith("ours-"):
        return [sys.executable, str(HERE / "ours" / f"{file}.py"), *arguments]
    if name.startswith("mcp-"):
        return [python(), "-W", "ignore", str(HERE / "peers" / f"{file}.py"), *arguments]
    return node.command(f"{file}.cjs", *arguments)


BOTH_ERAS: Final = {"legacy": HANDSHAKE, "auto": PER_REQUEST, PER_REQUEST: PER_REQUEST}
CLIENTS: Final = {
    client.name: client
    for client in (
        Client("ours-client", BOTH_ERAS),
        # In the one revision that it takes it asks the server nothing first, not even its name.
        Client("mcp-client", BOTH_ERAS, differs_unasked={"server": None}),
        # Progress that arrives in one piece with the answer is lost: it is told later than that.
        Client("sdk-client", {"legacy": HANDSHAKE}, drops_progress=True),
        # The older code for what is missing it tells as the newer one.
        Client("v2-client", BOTH_ERAS, drops_progress=True, differs={"missing": {"code": -32602}}),
    )
}

TOOL_ERROR: Final = "tool error"


def _sum(result: int) -> list[Any]:
    return [[f'{{"result":{result}}}'], {"result": result}]


SERVERS: Final = {
    server.name: server
    for server in (
        # The text of structured content is its JSON.
        Server(
            "ours-server",
            (HANDSHAKE, PER_REQUEST),
            differs={"add": _sum(5), "again": _sum(2)},
            differs_in_handshake={"missing": {"code": -32002}},
        ),
        # It sends log messages without the capability for them, so their level cannot be set.
        Server(
            "mcp-server",
            (HANDSHAKE, PER_REQUEST),
            wraps_text=True,
            differs={"unknown": TOOL_ERROR},
            differs_in_handshake={"level": "refused"},
        ),
        Server("sdk-server", (HANDSHAKE,), differs={"unknown": TOOL_ERROR}),
        Server("v2-server", (HANDSHAKE, PER_REQUEST)),
    )
}


def agreed(client: Client, mode: str, server: Server) -> str | None:
    """The revision that both speak; None if there is none."""
    wanted = client.modes[mode]
    if wanted in server.revisions:
        return wanted
    return None if mode == wanted else HANDSHAKE


def expected(client: Client, mode: str, server: Server) -> dict[str, Any]:
    """What a client sees of a server when they have agreed on a revision."""

    def text(said: str) -> list[Any]:
        return [[said], {"result": said} if server.wraps_text else None]

    revision = agreed(client, mode, server)
    session = {"level": "done", "ping": "done"} if revision == HANDSHAKE else {}
    everything = {
        "revision": revision,
        "server": server.name,
        "tools": TOOLS,
        "resources": ["note://today"],
        "templates": ["greeting://{name}"],
        "prompts": ["review"],
        **session,
        "add": [["5"], {"result": 5}],
        "echo": text(WORDS),
        "work": text("done"),
        "progress": STEPS,
        "logs": [["info", f"step {step}"] for step, _ in STEPS],
        "ask": text("hello Ada"),
        "asked": ["Who are you?"],
        "sample": text("you said hello"),
        "sampled": ["hello"],
        "where": text("file:///work"),
        "fail": TOOL_ERROR,
        "wrong": TOOL_ERROR,
        "unknown": {"code": -32602},
        "read": ["words"],
        "template": ["hello Ada"],
        "missing": {"code": -32602},
        "prompt": [["user", "Review this python"]],
        "complete": ["python"],
        "wait": "given up",
        "again": [["2"], {"result": 2}],
        "grown": sorted([*TOOLS, "grown"]),
    }
    differs = server.differs | (server.differs_in_handshake if session else {})
    differs |= client.differs | (client.differs_unasked if mode == revision else {})
    return {name: differs.get(name, value) for name, value in everything.items()}


def tapped(wire: Path, server: Sequence[str]) -> list[str]:
    """The server, with all that is said kept in a file."""
    return [sys.executable, TAP, str(wire), *server]


def invalid(wire: Path, revision: str) -> Iterator[str]:
    """The messages that the revision does not have, but for the probe of a client of both eras."""
    judge = Judge(Bindings(revision))
    lines = wire.read_bytes().splitlines()
    assert lines, "nothing was said"
    for number, line in enumerate(lines, 1):
        verdict = judge.judge(Text(number, line))
        probes = revision != PER_REQUEST and json.loads(line).get("method") == "server/discover"
        if not verdict.valid and not probes:
            yield f"{line!r}: {verdict.fault}"


def seen(client: Client, mode: str, server: Sequence[str]) -> dict[str, Any]:
    """What a client program tells of a server. Progress that it may drop is filled in."""
    command = client.command(mode, server)
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    if client.drops_progress and told["progress"] == STEPS[: len(told["progress"])]:
        told["progress"] = STEPS
    return told
