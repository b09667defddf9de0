"""Runs the client under test, few at a time, and notes how it ended: the suite does neither.

Usage: watched.py FOLDER [COMMAND ...] URL. Without a command it runs our client.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

ROOT: Final = Path(__file__).parents[2]
_CLIENT: Final = (sys.executable, "-m", "tests.conformance.client")
_PATIENCE: Final = 25
_HUNG: Final = 124
_AT_ONCE: Final = os.cpu_count() or 1
_PAUSE: Final = 0.05
_LOCK: Final = "lock"


def main(folder: str, *arguments: str) -> int:
    *command, url = arguments
    try:
        with _turn(Path(folder)):
            exit = subprocess.run(
                [*(command or _CLIENT), url], cwd=ROOT, timeout=_PATIENCE
            ).returncode
    except subprocess.TimeoutExpired:
        exit = _HUNG
    name = os.environ["MCP_CONFORMANCE_SCENARIO"].replace("/", "%")
    Path(folder, name).write_text(str(exit), "utf-8")
    return exit


@contextmanager
def _turn(folder: Path) -> Generator[None]:
    """Waits until fewer clients than processors run. The suite starts all of them at once."""
    files = [(folder / f"{number}.{_LOCK}").open("wb") for number in range(_AT_ONCE)]
    try:
        while not any(map(_is_locked, files)):
            time.sleep(_PAUSE)
        yield
    finally:
        for file in files:
            file.close()


def _is_locked(file: IO[bytes]) -> bool:
    """Whether the lock on the file is ours now; closing the file, or our end, gives it back."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def exits(folder: Path) -> dict[str, int]:
    """How the client ended, by scenario."""
    notes = (path for path in folder.iterdir() if path.suffix != f".{_LOCK}")
    return {note.name.replace("%", "/"): int(note.read_text("utf-8")) for note in notes}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
