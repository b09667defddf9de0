"""`make steady`: runs the suite beside busy loops and in asyncio's debug mode, to find chance.

    python -m tests.steady [arguments for pytest]

Three runs beside four busy loops at equal priority, then one with PYTHONASYNCIODEBUG=1. Nothing is
tried again: the first run that fails ends it, with that run's exit status.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

__all__ = ["RUNS", "main"]

LOOPS: Final = 4
BUSY: Final = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): pass"
"""Ends with the process that has started it."""
RUNS: Final[Sequence[tuple[str, int, Mapping[str, str]]]] = (
    *((f"run {number} of 3 beside {LOOPS} busy loops", LOOPS, {}) for number in (1, 2, 3)),
    ("the run with PYTHONASYNCIODEBUG=1", 0, {"PYTHONASYNCIODEBUG": "1"}),
)
"""What each is called, how many busy loops run beside it, and what it adds to the environment."""
CHOSEN: Final = (
    "-m",
    "not long and not wide and not interop and not sources",
    "-n",
    "auto",
    "--dist",
    "worksteal",
)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes busy while entered."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY, str(os.getpid())]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main(arguments: Sequence[str], pytest: Sequence[str] = (sys.executable, "-m", "pytest")) -> int:
    """Run all; return the exit status of the first run that fails, or 0."""
    for name, loops, more in RUNS:
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        with busy(loops):
            done = subprocess.run(
                [*pytest, "-q", *CHOSEN, *arguments], env={**os.environ, **more}, check=False
            )
        if done.returncode:
            sys.stdout.write(f"not steady: {name} has failed with status {done.returncode}\n")
            return done.returncode
    sys.stdout.write("steady: no run has failed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
