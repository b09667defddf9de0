"""The packages for Node, in a folder of their own; `python -m tests.interop.node` sets it up."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support import npm

__all__ = ["PROGRAMS", "command", "ready"]

PROGRAMS: Final = Path(__file__).parent / "node"
FOLDER: Final = PROGRAMS.parents[2] / ".node-peers"


def ready() -> bool:
    """Whether the packages are there, as they are locked."""
    return npm.is_installed(PROGRAMS, FOLDER)


def command(program: str, *arguments: str) -> list[str]:
    """Runs a program of this folder. It finds its packages whatever environment it is given."""
    packages = f"NODE_PATH={FOLDER / 'node_modules'}"
    return ["env", packages, "node", str(PROGRAMS / program), *arguments]


if __name__ == "__main__":
    npm.install(PROGRAMS, FOLDER, "--ignore-scripts")
