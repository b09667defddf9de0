"""Other packages in Python, each in an environment of its own; running this module sets them up.

`pins/NAME.txt` lists all that the environment NAME has, in exact versions, so that nothing needs to
be resolved. An environment is made anew when its pins change.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

__all__ = ["NAMES", "program", "ready"]

PINS: Final = Path(__file__).parent / "pins"
FOLDER: Final = PINS.parents[2] / ".python-peers"
NAMES: Final = tuple(sorted(path.stem for path in PINS.glob("*.txt")))

PATIENCE: Final = 300.0
"""Seconds for one environment."""

AT_ONCE: Final = 2


def ready() -> bool:
    """Whether every environment is there, as it is pinned."""
    return all(map(_is_made, NAMES))


def program(environment: str, name: str) -> str:
    """The path of a program of an environment, such as `python`."""
    return str(FOLDER / environment / "bin" / name)


def _pins(name: str) -> Path:
    return PINS / f"{name}.txt"


def _stamp(name: str) -> Path:
    """Written when all else is: a copy of the pins."""
    return FOLDER / name / ".pins"


def _is_made(name: str) -> bool:
    return _stamp(name).exists() and _stamp(name).read_bytes() == _pins(name).read_bytes()


def _make(name: str) -> None:
    """Raises CalledProcessError or TimeoutExpired."""
    venv.create(FOLDER / name, with_pip=False, clear=True, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    install = ["--python", program(name, "python"), "install", "--quiet", "--no-deps"]
    pins = ["--no-compile", "--requirement", str(_pins(name))]
    subprocess.run([*pip, *install, *pins], check=True, timeout=PATIENCE)
    _stamp(name).write_bytes(_pins(name).read_bytes())


def main() -> None:
    missing = [name for name in NAMES if not _is_made(name)]
    if missing:
        sys.stderr.write(f"setting up {FOLDER.name}: {', '.join(missing)}\n")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(_make, missing))


if __name__ == "__main__":
    main()
