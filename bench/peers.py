"""The environment of the peers, which are never among our dependencies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

__all__ = ["PINS", "python", "ready"]

PINS: Final = ("mcp==2.3.0", "datamodel-code-generator==0.89.0")
ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = ROOT / ".venv-peers"


def ready() -> bool:
    """Whether the peers' environment is there, with these pins."""
    stamp = FOLDER / ".pins"
    return stamp.exists() and stamp.read_text() == " ".join(PINS)


def python() -> str:
    """The interpreter of the peers' environment, which is made on first use."""
    stamp, interpreter = FOLDER / ".pins", FOLDER / "bin" / "python"
    if not ready():
        print(f"setting up {FOLDER.name}: {', '.join(PINS)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", *PINS]
        subprocess.run(pip, check=True)
        stamp.write_text(" ".join(PINS))
    return str(interpreter)


if __name__ == "__main__":
    python()
