"""Finds a processor that nothing disturbs: a little fixed work takes no longer there than ever.

On a shared machine the work of others halves the speed of a processor, by the second, and hits the
two sides of a pair unlike. What is judged here is neither side's.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import ClassVar, Final

__all__ = ["Quiet", "quiet_machine"]

_SLACK: Final = 1.4
"""How much longer than at its quickest the work may take: less than shared, more than throttled."""
_PATIENCE: Final = 20.0
"""Seconds that are waited for a quiet processor, in all."""
_PAUSE: Final = 0.01
_WORK: Final = json.dumps([{"name": f"n{n}", "of": [n, {}]} for n in range(500)])
"""Some 20 kB of JSON, for the standard library to read: it counts, allocates and looks up."""


class Quiet:
    """Keeps processes on a processor that is quiet, and says whether it still is."""

    _quickest: ClassVar = math.inf
    """Seconds that the work took at its quickest, as long as this process lives."""

    def __init__(self, processors: Collection[int]) -> None:
        self._processors = sorted(processors)
        self._here = self._processors[0]
        self._patience = _PATIENCE
        for each in self._processors * 9:
            self._spin(each)

    def settle(self, *processes: int) -> bool:
        """Moves them, and what is started from here, to a quiet processor.

        False if none has been quiet for too long.
        """
        begin = time.monotonic()
        while not (found := self.lasts()) and time.monotonic() - begin < self._patience:
            self._here = min(self._processors, key=self._spin)
            time.sleep(_PAUSE)
        self._patience -= time.monotonic() - begin
        for process in processes:
            _pin(process, self._here)
        return found

    def lasts(self) -> bool:
        """Whether the processor is quiet now."""
        return self._spin(self._here) < _SLACK * Quiet._quickest

    def _spin(self, processor: int) -> float:
        """Seconds that the work takes there: the least of three times."""
        _pin(0, processor)
        spun = min(_spun() for _ in range(3))
        Quiet._quickest = min(Quiet._quickest, spun)
        return spun


@contextmanager
def quiet_machine() -> Iterator[Quiet]:
    """As long as it lasts, this process is on the processor that is used."""
    if not hasattr(os, "sched_setaffinity"):
        yield Quiet([0])
        return
    allowed = os.sched_getaffinity(0)
    try:
        yield Quiet(allowed)
    finally:
        os.sched_setaffinity(0, allowed)


def _pin(process: int, processor: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process, {processor})


def _spun() -> float:
    begin = time.perf_counter()
    json.loads(_WORK)
    return time.perf_counter() - begin
