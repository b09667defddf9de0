"""Installs packages for Node in folders of their own, exactly as lock files name them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["install", "is_installed"]

_LOCK: Final = "package-lock.json"
_QUIET: Final = ("--no-audit", "--no-fund", "--loglevel=error")


def is_installed(locked: Path, folder: Path) -> bool:
    """Whether `folder` has the packages that the lock file of the folder `locked` names."""
    stamp = _stamp(folder)
    return stamp.exists() and stamp.read_bytes() == (locked / _LOCK).read_bytes()


def install(locked: Path, folder: Path, *options: str) -> None:
    """Installs them, unless they are there; `options` are npm's.

    Raises SystemExit without npm, CalledProcessError if it fails.
    """
    if is_installed(locked, folder):
        return
    if shutil.which("npm") is None:
        sys.exit("node and npm are needed: https://nodejs.org")
    folder.mkdir(exist_ok=True)
    for name in ("package.json", _LOCK):
        shutil.copy(locked / name, folder)
    command = ["npm", "ci", *_QUIET, *options]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(locked / _LOCK, _stamp(folder))


def _stamp(folder: Path) -> Path:
    """Written when all else is: a copy of the lock file."""
    return folder / "node_modules" / ".locked"
