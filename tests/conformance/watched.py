"""Runs the client under test, and notes how it ended: the suite does not look at that.

Usage: watched.py FOLDER URL
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_CLIENT: Final = (sys.executable, "-m", "tests.conformance.client")
_PATIENCE: Final = 25
_HUNG: Final = 124


def main(folder: str, url: str) -> int:
    try:
        exit = subprocess.run([*_CLIENT, url], cwd=ROOT, timeout=_PATIENCE).returncode
    except subprocess.TimeoutExpired:
        exit = _HUNG
    name = os.environ["MCP_CONFORMANCE_SCENARIO"].replace("/", "%")
    Path(folder, name).write_text(str(exit), "utf-8")
    return exit


def exits(folder: Path) -> dict[str, int]:
    """How the client ended, by scenario."""
    return {note.name.replace("%", "/"): int(note.read_text("utf-8")) for note in folder.iterdir()}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
