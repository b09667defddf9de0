"""Finds a quiet processor: one on which a little fixed work takes no longer than it ever did.

On a shared machine the work of others halves the speed of a processor, by the second, and hits the
two sides of a pair unlike. What is judged here is neither side's.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Final, TypeVar

__all__ = ["Quiet", "quiet_machine"]

_T = TypeVar("_T")

_SLACK: Final = 1.4
"""How much longer than at its quickest the work may take: less than shared, more than throttled."""
_PATIENCE: Final = 20.0
"""Seconds that are waited for a quiet processor, in all."""
_PAUSE: Final = 0.01
_TRIES: Final = 5
_WORK: Final = json.dumps([{"name": f"n{n}", "of": [n, {}]} for n in range(500)])
"""Some 20 kB of JSON, for the standard library to read: it counts, allocates and looks up."""


class Quiet:
    """Keeps processes on processors that are quiet, and says whether they still are."""

    _quickest: ClassVar = math.inf
    """Seconds that the work took at its quickest, as long as this process lives."""

    def __init__(self, processors: Collection[int]) -> None:
        self._processors = sorted(processors)
        self._used: list[int] = []
        self._patience = _PATIENCE
        for each in self._processors * 9:
            self._spin(each)

    def undisturbed(self, work: Callable[[], _T], *processes: int) -> tuple[_T, bool]:
        """What `work` gives while it is quiet; else what the last of some tries gave, and False.

        This process, what it starts and `processes` are on one processor.
        """
        return self._tried(work, (0, *processes), 1)

    def undisturbed_anywhere(self, work: Callable[[], _T]) -> tuple[_T, bool]:
        """The same while all processors are quiet; what runs where is the system's choice."""
        return self._tried(work, (0,), len(self._processors))

    def _tried(
        self, work: Callable[[], _T], processes: Sequence[int], processors: int
    ) -> tuple[_T, bool]:
        for _ in range(_TRIES):
            settled = self._settle(processes, processors)
            done = work()
            if settled and self._is_quiet():
                return done, True
        return done, False

    def _settle(self, processes: Sequence[int], wanted: int) -> bool:
        """Moves them to quiet processors; False if there were too few for too long."""
        begin = time.monotonic()
        while not (quiet := self._is_quiet()) and time.monotonic() - begin < self._patience:
            self._used = sorted(self._processors, key=self._spin)[:wanted]
            time.sleep(_PAUSE)
        self._patience -= time.monotonic() - begin
        for process in processes:
            _pin(process, self._used)
        return quiet

    def _is_quiet(self) -> bool:
        paces = [self._spin(each) for each in self._used]
        return bool(paces) and max(paces) < _SLACK * Quiet._quickest

    def _spin(self, processor: int) -> float:
        """Seconds that the work takes there: the least of three times."""
        _pin(0, [processor])
        spun = min(_spun() for _ in range(3))
        Quiet._quickest = min(Quiet._quickest, spun)
        return spun


@contextmanager
def quiet_machine() -> Iterator[Quiet]:
    """As long as it lasts, this process is on the processors that are used."""
    if not hasattr(os, "sched_setaffinity"):
        yield Quiet([0])
        return
    allowed = os.sched_getaffinity(0)
    try:
        yield Quiet(allowed)
    finally:
        os.sched_setaffinity(0, allowed)


def _pin(process: int, processors: Collection[int]) -> None:
    """With all of its threads; 0 is this process."""
    if hasattr(os, "sched_setaffinity"):
        for thread in os.listdir(f"/proc/{process or 'self'}/task"):
            os.sched_setaffinity(int(thread), processors)


def _spun() -> float:
    begin = time.perf_counter()
    json.loads(_WORK)
    return time.perf_counter() - begin
