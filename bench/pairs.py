"""Interleaved pairs: ours, the peer, ours, the peer; the median of each, and of their ratios.

Both run on one processor, where that can be said: what disturbs it disturbs both sides alike.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Row", "Side", "processes", "show", "turns"]

PAIRS: Final = 9
_SHORT: Final = 5
"""How many pairs of rounds stand for one pair of whole processes."""
_ROUND: Final = 0.01
"""Seconds that one side works before the other has its turn."""


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement: what each side takes, and the bar for peer / ours (or for ours alone)."""

    name: str
    ours: float
    peer: float | None
    bar: float | None
    unit: str = "s"
    pairs: tuple[float, ...] = ()
    """peer / ours of each pair: what slows the machine for a while slows both sides of it."""

    @property
    def ratio(self) -> float | None:
        if self.pairs:
            return statistics.median(self.pairs)
        return None if self.peer is None else self.peer / self.ours


class Side:
    """A worker process that does one job in its own interpreter."""

    def __init__(self, python: str, module: str, job: str) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.process = subprocess.Popen(
            [python, str(Path(__file__).with_name("worker.py")), module, job],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{module} {job} did not start")
        first = self.time(1)
        self.turns = max(1, int(_ROUND / max(first, 1e-9) / 4))
        self.turns = max(1, int(_ROUND / max(self.time(self.turns) / self.turns, 1e-9)))

    def time(self, turns: int) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{turns}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def turn(self) -> float:
        """Seconds of one turn, over a round of them."""
        return self.time(self.turns) / self.turns

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def turns(name: str, ours: Side, peer: Side, bar: float | None) -> Row:
    """Medians of interleaved rounds of two jobs; `bar` is the least peer / ours."""
    if hasattr(os, "sched_setaffinity"):
        quiet = {_least_disturbed()}
        for side in (ours, peer):
            os.sched_setaffinity(side.process.pid, quiet)
    times = [(ours.turn(), peer.turn()) for _ in range(_SHORT * PAIRS)]
    ours.close()
    peer.close()
    mine, theirs = (statistics.median(side) for side in zip(*times, strict=True))
    return Row(name, mine, theirs, bar, pairs=tuple(b / a for a, b in times))


def _least_disturbed() -> int:
    """The processor on which the same work is done soonest at the moment."""
    allowed = os.sched_getaffinity(0)
    try:
        return min(sorted(allowed), key=_spun_on)
    finally:
        os.sched_setaffinity(0, allowed)


def _spun_on(processor: int) -> float:
    """Seconds that a little work takes there: the median of several times."""
    os.sched_setaffinity(0, {processor})
    return statistics.median(_spun() for _ in range(9))


def _spun() -> float:
    begin = time.perf_counter()
    sum(range(50_000))
    return time.perf_counter() - begin


def processes(
    name: str,
    ours: Sequence[str],
    peer: Sequence[str] | None,
    bar: float | None,
    before: Callable[[], None] = lambda: None,
) -> Row:
    """Medians of whole processes in turn; `before` is called before each of ours."""
    mine: list[float] = []
    theirs: list[float] = []
    for _ in range(PAIRS + 1):
        before()
        mine.append(_process(ours))
        theirs += [_process(peer)] if peer else []
    median = statistics.median(theirs[1:]) if theirs else None
    return Row(name, statistics.median(mine[1:]), median, bar)


def _process(command: Sequence[str]) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def show(title: str, rows: Sequence[Row]) -> None:
    """A table: our time, the peer's, their ratio, the bar, and whether it is met."""
    print(f"\n{title}\n{'':48} {'ours':>10} {'peer':>10} {'ratio':>7} {'bar':>7}")
    for row in rows:
        ours, peer = (_amount(side, row.unit) for side in (row.ours, row.peer))
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
        bar, met = _bar(row)
        print(f"{row.name:48} {ours:>10} {peer:>10} {ratio:>7} {bar:>7} {met}")
    sys.stdout.flush()


def _bar(row: Row) -> tuple[str, str]:
    if row.bar is None:
        return "", ""
    if row.ratio is None:
        return f"{row.bar:g} {row.unit}", "" if row.ours <= row.bar else "missed"
    return f"{row.bar:g}", "" if row.ratio >= row.bar else "missed"


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return _SHOWN[unit](value)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds > 1e-3 else f"{seconds * 1e6:.2f} us"


_SHOWN: Final[dict[str, Callable[[float], str]]] = {
    "s": _time,
    "B": lambda size: f"{size / 2**20:.1f} MiB",
    "kB": lambda size: f"{size:.1f} kB",
}
