"""Clocks for tests: one that is set forward, one that leaves out what other processes took."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.support.virtual_time import VirtualTimeLoop

__all__ = ["Clock", "own_time"]


class Clock:
    """Of the running loop, for as long as that runs."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._real, self._ahead = loop.time, 0.0
        self._is_virtual = isinstance(loop, VirtualTimeLoop)
        if not self._is_virtual:
            loop.time = self.time

    def time(self) -> float:
        return self._real() + self._ahead

    async def forward(self, seconds: float) -> None:
        """Returns when all has run that was due by then, and what follows from it at once."""
        if self._is_virtual:
            await asyncio.sleep(seconds)
        else:
            self._ahead += seconds
        for _ in range(10):
            await asyncio.sleep(0)


def own_time() -> float:
    """Seconds on a clock that stands still while this thread waits for a processor.

    Where the kernel does not tell of that, it does not.
    """
    queued = Path("/proc/thread-self/schedstat")
    nanoseconds = int(queued.read_text("ascii").split()[1]) if queued.exists() else 0
    return time.perf_counter() - nanoseconds / 1e9
