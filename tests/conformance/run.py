"""`make conformance`: the official suite against our server and our client, read strictly.

Our server is judged a second time, behind a bridge: it speaks a revision of the other era then.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.conformance.judge import Scenario, judged, unscored
from tests.conformance.watched import exits
from tests.support import npm

__all__ = [
    "BRIDGED",
    "REQUIRED",
    "client_scenarios",
    "install",
    "main",
    "print_bridged_score",
    "print_score",
    "server_scenarios",
]

ROOT: Final = Path(__file__).parents[2]
SUITE: Final = Path(__file__).parent / "suite"
FOLDER: Final = ROOT / ".conformance"
SERVER: Final = ROOT / "examples" / "everything.py"
HERE: Final = Path(__file__).parent
BRIDGE: Final = HERE / "bridged.py"
WATCHED: Final = HERE / "watched.py"
_PATIENCE: Final = 600
_CLIENT_PATIENCE: Final = 300
"""Seconds that the suite gives each client. `watched` counts from when it is the client's turn."""

REQUIRED: Final[Mapping[str, Mapping[str, Mapping[str, list[str]]]]] = tomllib.loads(
    (HERE / "required.toml").read_text("utf-8")
)
"""The names of the scenarios to pass, by role and revision: none can be lost or swapped unseen."""

BRIDGED: Final[Mapping[str, Any]] = tomllib.loads((HERE / "bridged.toml").read_text("utf-8"))
"""By revision: the one that the server behind a bridge speaks, and the scenarios it cannot pass."""


def install() -> None:
    """Install the suite, unless it is there. Raises as `npm.install` does."""
    npm.install(SUITE, FOLDER)


def main() -> int:
    """Run the suite and print its scores. Returns the exit status."""
    install()
    failed = False
    for role, revisions in REQUIRED.items():
        for revision, table in revisions.items():
            scenarios, others = _RUNS[role](revision)
            required = frozenset(table["scenarios"])
            failed |= print_score(role, revision, required, scenarios, others)
    for revision, table in BRIDGED["server"].items():
        with _serving(BRIDGE, revision, table["spoken"]) as url:
            failed |= print_bridged_score(revision, *server_scenarios(revision, url))
    return int(failed)


def _suite(*arguments: str) -> str:
    """What the suite prints."""
    packages = FOLDER / "node_modules"
    program = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    node = packages / "node" / "bin" / "node"
    done = subprocess.run(
        [str(node), str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
    )
    return done.stdout + done.stderr


# ---- our side


def _server(revision: str) -> tuple[list[Scenario], dict[str, str]]:
    with _serving(SERVER) as url:
        return server_scenarios(revision, url)


def server_scenarios(revision: str, url: str) -> tuple[list[Scenario], dict[str, str]]:
    """Judge the server at `url`. Return its scenarios, and why others are not scored."""
    with tempfile.TemporaryDirectory() as folder:
        output = _suite("server", "--url", url, "--requirements", revision, "-o", folder)
        return list(judged(Path(folder))), unscored(output)


@contextmanager
def _serving(program: Path, *arguments: str) -> Iterator[str]:
    """Run a program with a free port of loopback as its last argument, and yield its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(program), *arguments, f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, env=os.environ, stderr=subprocess.DEVNULL)
    try:
        _await(port, process, program)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def _await(port: int, process: subprocess.Popen[bytes], program: Path) -> None:
    for _ in range(1200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit(f"{program} does not serve")


def client_scenarios(revision: str, *client: str) -> tuple[list[Scenario], dict[str, str]]:
    """Judge the command `client`, which is given a URL, or our client without a command.

    Returns its scenarios, and why others are not scored.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as notes:
        command = shlex.join((sys.executable, str(WATCHED), notes, *client))
        patience = str(_CLIENT_PATIENCE * 1000)
        options = ("--requirements", revision, "--timeout", patience, "-o", folder)
        output = _suite("client", "--command", command, *options)
        return list(judged(Path(folder), exits(Path(notes)))), unscored(output)


_RUNS: Final = {"server": _server, "client": client_scenarios}


# ---- words


def print_score(
    role: str,
    revision: str,
    required: Set[str],
    scenarios: Sequence[Scenario],
    unscored: Mapping[str, str],
) -> bool:
    """Print the score of one role and revision. Returns whether the run fails.

    It fails if a required scenario fails or is missing, and if the suite scores one that is not
    named. `unscored` are the scenarios that the suite itself does not score, each with its reason.
    """
    due = [each for each in scenarios if each.name in required]
    passed = {each.name for each in due if not each.failures}
    checks = sum(each.checks for each in due)
    print(f"{role}, {revision}: {len(passed)} of {len(required)} scenarios, {checks} checks")
    for each in due:
        for failure in each.failures:
            print(f"  {each.name}: {failure}")
    for name in sorted(required - {each.name for each in due}):
        print(f"  {name}: the suite did not run it")
    unnamed = [each for each in scenarios if each.name not in required]
    for each in unnamed:
        lacks = f"lacks {each.failures[0]}" if each.failures else "passed"
        more = f" and {len(each.failures) - 1} more" if len(each.failures) > 1 else ""
        reason = unscored.get(each.name, "add it to required.toml")
        print(f"  not required ({reason}): {each.name}: {lacks}{more}")
    return passed != required or any(each.name not in unscored for each in unnamed)


def print_bridged_score(
    revision: str, scenarios: Sequence[Scenario], unscored: Mapping[str, str]
) -> bool:
    """Print the score of the server behind a bridge. Returns whether the run fails.

    It fails as in `print_score`, and if a scenario passes that is listed as one that cannot.
    """
    cannot = BRIDGED["server"][revision]["cannot"]
    required = frozenset(REQUIRED["server"][revision]["scenarios"]) - cannot.keys()
    failed = print_score(
        "server behind a bridge", revision, required, scenarios, {**unscored, **cannot}
    )
    stale = [each.name for each in scenarios if each.name in cannot and not each.failures]
    for name in stale:
        print(f"  {name} passes: take it out of bridged.toml")
    return failed or bool(stale)


if __name__ == "__main__":
    sys.exit(install() if "--install" in sys.argv[1:] else main())
