"""Measures interleaved pairs (ours, the peer, ours, …): the median of each and of the ratios.

Both run on one processor, where that can be said, and count while it is quiet.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from bench.quiet import Quiet, quiet_machine

__all__ = [
    "PAIRS",
    "Pair",
    "Row",
    "Side",
    "chosen",
    "interleaved",
    "processes",
    "row",
    "show",
    "turns",
]

PAIRS: Final = 9
_PROCESSES: Final = 5
"""How often both sides of two jobs are started: where things lie in memory is a matter of luck."""
_ROUNDS: Final = PAIRS
"""Pairs of rounds of each start."""
_ROUND: Final = 0.01
"""Seconds that one side works before the other has its turn."""
_WORKER: Final = Path(__file__).with_name("worker.py")


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
    disturbed: int = 0
    """How many of the pairs were taken while the machine was not quiet, for want of others."""

    @property
    def ratio(self) -> float | None:
        if self.pairs:
            return statistics.median(self.pairs)
        return None if self.peer is None else self.peer / self.ours


class Worker:
    """A process that does one job in its own interpreter."""

    def __init__(self, command: Sequence[str]) -> None:
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{' '.join(command[1:])} did not start")
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


@dataclass(frozen=True, slots=True)
class Side:
    """A job of a module of ours, and the interpreter that does it."""

    python: str
    module: str
    job: str

    @contextmanager
    def at_work(self) -> Iterator[Worker]:
        worker = Worker([self.python, str(_WORKER), self.module, self.job])
        try:
            yield worker
        finally:
            worker.close()


Pair: TypeAlias = tuple[float, float]
"""What ours takes, and the peer."""


def chosen(measured: Iterable[tuple[Pair, bool]]) -> tuple[list[Pair], int]:
    """The pairs that a quiet machine gave, and others as far as those are too few: how many."""
    kept: list[Pair] = []
    disturbed: list[Pair] = []
    for pair, undisturbed in measured:
        (kept if undisturbed else disturbed).append(pair)
    lacking = disturbed[: max(0, PAIRS - len(kept))]
    return kept + lacking, len(lacking)


def row(name: str, measured: Iterable[tuple[Pair, bool]], bar: float | None) -> Row:
    """Medians of the chosen pairs."""
    pairs, disturbed = chosen(measured)
    ours, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Row(name, ours, peer, bar, pairs=tuple(b / a for a, b in pairs), disturbed=disturbed)


def turns(name: str, ours: Side, peer: Side, bar: float | None) -> Row:
    """Medians of interleaved rounds of two jobs; `bar` is the least peer / ours."""
    return row(name, interleaved(ours, peer), bar)


def interleaved(ours: Side, peer: Side) -> Iterator[tuple[Pair, bool]]:
    """Seconds of a turn of two jobs, round by round, and whether the machine was quiet then."""
    with quiet_machine() as machine:
        for _ in range(_PROCESSES):
            yield from _rounds(ours, peer, machine)


def _rounds(ours: Side, peer: Side, machine: Quiet) -> Iterator[tuple[Pair, bool]]:
    with ours.at_work() as mine, peer.at_work() as theirs:
        both = (mine.process.pid, theirs.process.pid)
        for _ in range(_ROUNDS):
            yield machine.undisturbed(lambda: (mine.turn(), theirs.turn()), *both)


def processes(
    name: str,
    ours: Sequence[str],
    peer: Sequence[str] | None,
    bar: float | None,
    before: Callable[[], None] = lambda: None,
) -> Row:
    """Medians of whole processes in turn; `before` is called before each of ours."""

    def pair() -> Pair:
        before()
        return _process(ours), _process(peer) if peer else math.nan

    pair()
    with quiet_machine() as machine:
        medians = row(name, [machine.undisturbed(pair) for _ in range(PAIRS)], bar)
    return medians if peer else replace(medians, peer=None, pairs=())


def _process(command: Sequence[str]) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def show(title: str, rows: Iterable[Row]) -> None:
    """A table, a line as soon as it is measured: our time, the peer's, their ratio, the bar."""
    print(f"\n{title}\n{'':48} {'ours':>10} {'peer':>10} {'ratio':>7} {'bar':>7}", flush=True)
    for each in rows:
        ours, peer = (_amount(side, each.unit) for side in (each.ours, each.peer))
        ratio = f"{each.ratio:.2f}" if each.ratio is not None else ""
        bar, met = _bar(each)
        note = f"({each.disturbed} of {PAIRS} disturbed)" if each.disturbed else ""
        print(f"{each.name:48} {ours:>10} {peer:>10} {ratio:>7} {bar:>7} {met:6} {note}".rstrip())
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
