"""Taps a server's standard input and output, and checks the traces."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.support.command import run_here

__all__ = ["check_traces", "tapped"]

_TAP: Final = Path(__file__).with_name("trace_tap.py")


def tapped(folder: Path, command: Sequence[str]) -> list[str]:
    """Return the command of a server, each of whose processes leaves a trace in a folder."""
    folder.mkdir(exist_ok=True)
    return [sys.executable, str(_TAP), str(folder), *command]


def check_traces(folder: Path) -> None:
    """Check each message of each process by the schema of the revision that was negotiated."""
    traces = [*folder.iterdir()]
    assert traces
    for trace in traces:
        done = run_here("trace", "--check", trace)
        assert done.returncode == 0, done.stdout.decode()
