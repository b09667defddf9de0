"""What a client of a peer sees of a server of a peer: the same whoever they are, but for a table.

Every server offers the same tools, resources and prompts; every client tries them all and tells
what it saw. The programs are in ours/, peers/ and node/. Over HTTP they see the same as over stdio.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.peers import python
from mcp_bindgen.cli.validate import Bindings
from mcp_bindgen.validate.messages import Text
from mcp_bindgen.validate.verdicts import Judge
from tests.interop import node
from tests.interop.processes import free_port

__all__ = [
    "CLIENTS",
    "DIFFERENCES",
    "SERVERS",
    "Client",
    "Server",
    "agreed",
    "differences",
    "expected",
    "invalid",
    "seen",
    "tapped",
]

SESSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
FORMLESS: Final = SESSIONS[:2]
PER_REQUEST: Final = "2026-07-28"
EVERY: Final = (*SESSIONS, PER_REQUEST)

PATIENCE: Final = 60
HERE: Final = Path(__file__).parent
TAP: Final = str(HERE / "tap.py")

TOOLS: Final = ["add", "ask", "echo", "fail", "grow", "sample", "wait", "where", "work"]
STEPS: Final = [[1, 3], [2, 3], [3, 3]]
WORDS: Final = "é\n\u2028😀"
TOOL_ERROR: Final = "tool error"


@dataclass(frozen=True, slots=True)
class Client:
    """A client program.

    `modes` are what it can be asked for, each with the revision that it wants then; one that is
    called as a revision takes no other.
    """

    name: str
    modes: dict[str, str]
    drops_progress: bool = False

    def command(self, mode: str, server: Sequence[str]) -> list[str]:
        return _command(self.name, mode, *server)


@dataclass(frozen=True, slots=True)
class Server:
    """A server program."""

    name: str
    revisions: tuple[str, ...]

    def command(self, *transport: str) -> list[str]:
        return _command(self.name, *transport)

    @contextmanager
    def over_http(self, kind: str, wire: Path) -> Iterator[list[str]]:
        """Runs it, over `http` or `sse`; its URL. What is said to ours is kept in a file."""
        port = free_port()
        command = self.command(kind, str(port))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, env={**os.environ, "WIRE": str(wire)}, **quiet)
        try:
            _listens(port, process)
            yield [f"http://127.0.0.1:{port}/{'sse' if kind == 'sse' else 'mcp'}"]
        finally:
            process.kill()
            process.wait()


def _listens(port: int, process: subprocess.Popen[bytes]) -> None:
    """Returns when somebody does."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens; exit code {process.poll()}")


def _command(name: str, *arguments: str) -> list[str]:
    file = name.replace("-", "_")
    if name.startswith("ours-"):
        return [sys.executable, str(HERE / "ours" / f"{file}.py"), *arguments]
    if name.startswith("mcp-"):
        return [python(), "-W", "ignore", str(HERE / "peers" / f"{file}.py"), *arguments]
    return node.command(f"{file}.cjs", *arguments)


_LEGACY: Final = {"legacy": SESSIONS[-1]}
_BOTH_ERAS: Final = {**_LEGACY, "auto": PER_REQUEST, PER_REQUEST: PER_REQUEST}
CLIENTS: Final = {
    client.name: client
    for client in (
        Client("ours-client", {**_BOTH_ERAS, **{revision: revision for revision in SESSIONS}}),
        Client("mcp-client", _BOTH_ERAS),
        # Progress that arrives in one piece with the answer is lost: it is told later than that.
        Client("sdk-client", _LEGACY, drops_progress=True),
        Client("v2-client", _BOTH_ERAS, drops_progress=True),
    )
}
SERVERS: Final = {
    server.name: server
    for server in (
        Server("ours-server", EVERY),
        Server("mcp-server", EVERY),
        Server("sdk-server", SESSIONS),
        Server("v2-server", EVERY),
    )
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What is seen otherwise than with all others, where a client or server takes part."""

    of: str
    why: str
    what: dict[str, Any]
    revisions: tuple[str, ...] = EVERY
    modes: tuple[str, ...] | None = None


def _sum(result: int) -> str:
    return json.dumps({"result": result}, separators=(",", ":"))


def _wrapped(text: str) -> list[Any]:
    return [[text], {"result": text}]


DIFFERENCES: Final = (
    Difference(
        "mcp-client",
        "in the one revision that it takes it asks the server nothing first, not even its name",
        {"server": None},
        modes=(PER_REQUEST,),
    ),
    Difference(
        "ours-server",
        "the text of structured content is its JSON",
        {"add": [[_sum(5)], {"result": 5}], "again": [[_sum(2)], {"result": 2}]},
    ),
    Difference(
        "ours-server",
        "nothing is sent that the revision has not, as structured content",
        {"add": [[_sum(5)], None], "again": [[_sum(2)], None]},
        FORMLESS,
    ),
    Difference(
        "ours-server",
        "what is missing has the code that the revision advises",
        {"missing": {"code": -32002}},
        SESSIONS,
    ),
    Difference(
        "mcp-server",
        "text is structured content too",
        {
            "echo": _wrapped(WORDS),
            "work": _wrapped("done"),
            "ask": _wrapped("hello Ada"),
            "sample": _wrapped("you said hello"),
            "where": _wrapped("file:///work"),
        },
    ),
    Difference(
        "mcp-server",
        "it sends log messages without the capability for them, so their level cannot be set",
        {"level": "refused"},
        SESSIONS,
    ),
    Difference("mcp-server", "an unknown tool is a failed one", {"unknown": TOOL_ERROR}),
    Difference("sdk-server", "an unknown tool is a failed one", {"unknown": TOOL_ERROR}),
    *(
        Difference(
            server,
            "a client of a revision without forms cannot be asked",
            {"ask": answer, "asked": []},
            FORMLESS,
        )
        for server, answer in {
            "ours-server": TOOL_ERROR,
            "mcp-server": {"code": -32021},
            "sdk-server": TOOL_ERROR,
            "v2-server": TOOL_ERROR,
        }.items()
    ),
    Difference(
        "v2-client",
        "it knows the older code for what is missing as the newer one",
        {"missing": {"code": -32602}},
    ),
)
"""A later one counts more."""


def agreed(client: Client, mode: str, server: Server) -> str | None:
    """The revision that both speak; None if there is none."""
    wanted = client.modes[mode]
    if wanted in server.revisions:
        return wanted
    return None if mode == wanted else SESSIONS[-1]


def differences(client: Client, mode: str, server: Server) -> list[Difference]:
    """Those that count for a pair."""
    return [
        difference
        for difference in DIFFERENCES
        if difference.of in {client.name, server.name}
        if agreed(client, mode, server) in difference.revisions
        if difference.modes is None or mode in difference.modes
    ]


def expected(client: Client, mode: str, server: Server) -> dict[str, Any]:
    """What a client sees of a server."""
    revision = agreed(client, mode, server)
    everything = {
        "revision": revision,
        "server": server.name,
        "tools": TOOLS,
        "resources": ["note://today"],
        "templates": ["greeting://{name}"],
        "prompts": ["review"],
        **({"level": "done", "ping": "done"} if revision in SESSIONS else {}),
        "add": [["5"], {"result": 5}],
        "echo": [[WORDS], None],
        "work": [["done"], None],
        "progress": STEPS,
        "logs": [["info", f"step {step}"] for step, _ in STEPS],
        "ask": [["hello Ada"], None],
        "asked": ["Who are you?"],
        "sample": [["you said hello"], None],
        "sampled": ["hello"],
        "where": [["file:///work"], None],
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
    for difference in differences(client, mode, server):
        everything |= difference.what
    return everything


def tapped(wire: Path, server: Sequence[str]) -> list[str]:
    """The server, with all that is said kept in a file."""
    return [sys.executable, TAP, str(wire), *server]


def invalid(wire: Path, revision: str) -> Iterator[str]:
    """The messages that the revision does not have, but for the probe of a client of both eras.

    HTTP's own refusal of the probe has no id, or null.
    """
    judge = Judge(Bindings(revision))
    lines = wire.read_bytes().splitlines()
    assert lines, "nothing was said"
    for number, line in enumerate(lines, 1):
        verdict = judge.judge(Text(number, line))
        message = json.loads(line)
        refuses = number == 2 and "error" in message and message.get("id") is None
        probes = message.get("method") == "server/discover" or refuses
        if not verdict.valid and not (probes and revision != PER_REQUEST):
            yield f"{line!r}: {verdict.fault}"


def seen(
    client: Client, mode: str, server: Sequence[str], wire: Path | None = None
) -> dict[str, Any]:
    """What a client program tells of a server. Progress that it may drop is filled in.

    With `wire` what ours says and hears is kept there.
    """
    command = client.command(mode, server)
    env = os.environ | ({} if wire is None else {"WIRE": str(wire)})
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=env)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    if client.drops_progress and seen["progress"] == STEPS[: len(seen["progress"])]:
        seen["progress"] = STEPS
    return seen
