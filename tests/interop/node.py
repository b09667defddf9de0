"""The packages for Node, in a folder of their own; `python -m tests.interop.node` sets it up."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["PROGRAMS", "command", "ready"]

PROGRAMS: Final = Path(__file__).parent / "node"
FOLDER: Final = PROGRAMS.parents[2] / ".node-peers"
_LOCK: Final = "package-lock.json"


def ready() -> bool:
    """Whether the packages are there, as they are locked."""
    stamp = FOLDER / "node_modules" / ".locked"
    return stamp.exists() and stamp.read_bytes() == (PROGRAMS / _LOCK).read_bytes()


def set_up() -> None:
    """Installs what the lock file names, unless it is there."""
    if ready():
        return
    FOLDER.mkdir(exist_ok=True)
    for name in ("package.json", _LOCK):
        shutil.copy(PROGRAMS / name, FOLDER)
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    subprocess.run(["npm", "ci", *quiet], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(PROGRAMS / _LOCK, FOLDER / "node_modules" / ".locked")


def command(program: str, *arguments: str) -> list[str]:
    """Runs a program of this folder. It finds its packages whatever environment it is given."""
    packages = f"NODE_PATH={FOLDER / 'node_modules'}"
    return ["env", packages, "node", str(PROGRAMS / program), *arguments]


if __name__ == "__main__":
    if shutil.which("npm") is None:
        sys.exit("node and npm are needed: https://nodejs.org")
    set_up()
