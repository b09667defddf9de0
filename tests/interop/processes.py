"""Programs of others, run for a test: as a server that listens, or to their end."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

__all__ = ["PORT", "free_port", "ours", "output", "serving"]

PORT: Final = "{port}"
"""Stands in a command for the port that it is given."""

OURS: Final = Path(__file__).parent / "ours"
PATIENCE: Final = 60


def ours(interpreter: str, program: str, *arguments: str) -> list[str]:
    """The command of a program of ours, run by an interpreter."""
    return [interpreter, str(OURS / f"{program}.py"), *arguments]


def output(command: Sequence[str]) -> Any:
    """The JSON document that a program says. It must end well, and in time."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def free_port() -> int:
    """A port that nobody listens on, and below those that connections are given."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with suppress(OSError), socket.socket() as free:
            free.bind(("127.0.0.1", port))
            return port


@contextmanager
def serving(command: Sequence[str], path: str) -> Generator[str]:
    """The URL of a server while it runs; its command has PORT where the port belongs."""
    port = free_port()
    words = [word.replace(PORT, str(port)) for word in command]
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    with subprocess.Popen(words, **quiet) as process:
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}{path}"
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Returns when somebody listens."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise AssertionError(f"nobody listens; exit code {process.poll()}")
