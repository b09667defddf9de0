"""Runs the command line, as a process or inside this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result

from mcp_bindgen.cli import main

__all__ = ["checkout", "invoke", "run", "run_here"]


def invoke(*args: str | Path, color: bool = False, input: str | bytes | None = None) -> Result:
    """In this process; an error that is not reported as one message fails the test."""
    result = CliRunner().invoke(main, [str(arg) for arg in args], color=color, input=input)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run_here(*args: str | Path) -> subprocess.CompletedProcess[bytes]:
    """In this process, with the outcome that a process of its own would have.

    It starts in a tenth of the time; `run` is for claims about the process and its streams.
    """
    result = invoke(*args)
    command = ["mcp-bindgen", *map(str, args)]
    return subprocess.CompletedProcess(
        command, result.exit_code, result.stdout_bytes, result.stderr_bytes
    )


def run(
    *args: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """As a process of its own, with pipes."""
    return subprocess.run(
        [sys.executable, "-m", "mcp_bindgen", *map(str, args)],
        capture_output=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        timeout=120,
        check=False,
    )


def checkout(root: Path, to: Path, *, crlf: bool = False) -> Path:
    """A copy of schema/ and templates/ at `to`, as an attached checkout would have them."""
    for folder in ("schema", "templates"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file():
                copy = to / path.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                data = path.read_bytes()
                copy.write_bytes(data.replace(b"\n", b"\r\n") if crlf else data)
    return to
