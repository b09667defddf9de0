"""Runs one measurement in an interpreter of its own: each line on stdin asks for timed turns.

Half as many are made before, untimed: a process that has waited for its turn has lost its caches.

Usage: worker.py MODULE JOB. It needs nothing but the standard library, as peers have no more.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    module, job = sys.argv[1:]
    run = importlib.import_module(module).JOBS[job]()
    run()
    print("ready", flush=True)
    for line in sys.stdin:
        turns = int(line)
        for _ in range(turns // 2):
            run()
        begin = time.perf_counter()
        for _ in range(turns):
            run()
        print(time.perf_counter() - begin, flush=True)


if __name__ == "__main__":
    main()
