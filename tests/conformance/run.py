"""`make conformance`: the official suite against our server and our client, read strictly."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.conformance.judge import Scenario, judged, unscored
from tests.conformance.watched import exits
from tests.support import npm

__all__ = ["REQUIRED", "main", "print_score"]

ROOT: Final = Path(__file__).parents[2]
SUITE: Final = Path(__file__).parent / "suite"
FOLDER: Final = ROOT / ".conformance"
SERVER: Final = ROOT / "examples" / "everything.py"
WATCHED: Final = Path(__file__).parent / "watched.py"
_PATIENCE: Final = 600
_CLIENT_PATIENCE: Final = 300
"""Seconds that the suite gives each client. `watched` counts from when it is the client's turn."""

REQUIRED: Final = {
    ("server", "2025-11-25"): 30,
    ("server", "2026-07-28"): 37 + 9,
    ("client", "2025-11-25"): 18 + 7,
    ("client", "2026-07-28"): 32 + 7,
}
"""How many scenarios each side has to pass, by revision: the suite cannot run fewer unseen."""

UNSCORED: Final = frozenset(
    {
        "auth/client-credentials-basic",
        "auth/client-credentials-jwt",
        "auth/dpop",
        "auth/dpop-nonce",
        "auth/enterprise-managed-authorization",
        "auth/wif-jwt-bearer",
        "json-schema-2020-12-preservation",
        "tasks-capability-negotiation",
        "tasks-dispatch-and-envelope",
        "tasks-lifecycle",
        "tasks-mrtr-composition",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-request-state-removal",
        "tasks-required-task-error",
        "tasks-wire-fields",
    }
)
"""Scenarios that the suite runs and does not score, and that have to be passed all the same."""


def install() -> None:
    """Install the suite, unless it is there. Raises as `npm.install` does."""
    npm.install(SUITE, FOLDER)


def main() -> int:
    """Run the suite and print its scores. Returns the exit status."""
    install()
    failed = 0
    for (role, revision), required in REQUIRED.items():
        scenarios, others = _RUNS[role](revision)
        optional = {name: why for name, why in others.items() if name not in UNSCORED}
        failed += print_score(role, revision, required, scenarios, optional)
    return 1 if failed else 0


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
    with _serving() as url, tempfile.TemporaryDirectory() as folder:
        output = _suite("server", "--url", url, "--requirements", revision, "-o", folder)
        return list(judged(Path(folder))), unscored(output)


@contextmanager
def _serving() -> Iterator[str]:
    """Our server on a free port of loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(SERVER), f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, env=os.environ, stderr=subprocess.DEVNULL)
    try:
        _await(port, process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise SystemExit(f"{SERVER} does not serve")


def _client(revision: str) -> tuple[list[Scenario], dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as notes:
        command = f"{sys.executable} {WATCHED} {notes}"
        patience = str(_CLIENT_PATIENCE * 1000)
        options = ("--requirements", revision, "--timeout", patience, "-o", folder)
        output = _suite("client", "--command", command, *options)
        return list(judged(Path(folder), exits(Path(notes)))), unscored(output)


_RUNS: Final = {"server": _server, "client": _client}


# ---- words


def print_score(
    role: str, revision: str, required: int, scenarios: list[Scenario], others: dict[str, str]
) -> bool:
    """Whether a required scenario failed, or is missing."""
    scored = [each for each in scenarios if each.name not in others]
    passed = {each.name for each in scored if not each.failures}
    checks = sum(each.checks for each in scored)
    print(f"{role}, {revision}: {len(passed)} of {required} scenarios, {checks} checks")
    for each in scored:
        for failure in each.failures:
            print(f"  {each.name}: {failure}")
    for each in scenarios:
        if each.name in others:
            lacks = f"lacks {each.failures[0]}" if each.failures else "passed"
            more = f" and {len(each.failures) - 1} more" if len(each.failures) > 1 else ""
            print(f"  not scored ({others[each.name]}): {each.name}: {lacks}{more}")
    return len(passed) != required or len(scored) != required


if __name__ == "__main__":
    sys.exit(install() if "--install" in sys.argv[1:] else main())
