"""Which cases of a parametrized test wait for `make wide`: those not named, or those not drawn.

`wide_but` chooses by hand: the named cases are run by `make test`, the others by `make wide`. The
marker `drawn` chooses by a seed: `make test` runs a share of the cases, another one with each seed,
and `make wide` runs all of them. `make quick` and `make portable` draw a number of cases from all
files. `--part 2/3` runs the second of three parts.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.seeds import seed

__all__ = ["SHARE", "draw", "draw_at_most", "mark_what_waits", "part", "wide_but"]

SHARE: Final = 1 / 5
"""How many of the cases of a test that is marked `drawn` are run by `make test`."""


def wide_but(kept: Collection[Any], values: Iterable[Any]) -> list[Any]:
    """`values` as the parameters of a test, marked `wide` unless they are among `kept`.

    Raises ValueError if one of `kept` is not a value: it would be run by no one.
    """
    every = list(values)
    if unknown := [value for value in kept if value not in every]:
        raise ValueError(f"not among the values: {unknown}")
    return [v if v in kept else pytest.param(v, marks=pytest.mark.wide) for v in every]


def mark_what_waits(items: Iterable[pytest.Item]) -> None:
    """Mark `wide` each case of a test that is marked `drawn` which the seed does not draw.

    A case that is marked `pinned`, such as one that once found a bug, is always run.
    """
    tests: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("drawn") and not item.get_closest_marker("pinned"):
            tests[_test_of(item)].append(item)
    for test, cases in tests.items():
        drawn = draw([_parameters(case) for case in cases], seed(test))
        for place, case in enumerate(cases):
            if place not in drawn:
                case.add_marker("wide")


def draw_at_most(items: Sequence[pytest.Item], most: int) -> list[pytest.Item]:
    """Draw `most` of the items, in their order.

    Every file in turn gives one, of every test in its turn.
    """
    dice = random.Random(seed("at most"))
    ready = list(items)
    dice.shuffle(ready)
    files: defaultdict[Path, defaultdict[str, list[pytest.Item]]]
    files = defaultdict(lambda: defaultdict(list))
    for item in ready:
        files[item.path][_test_of(item)].append(item)
    drawn = {*_take_turns(_take_turns(tests.values()) for tests in files.values())[:most]}
    return [item for item in items if item in drawn]


def part(text: str) -> slice:
    """The part that a text names: `2/3` is the second of every three.

    Raises ValueError if it names none.
    """
    number, _, parts = text.partition("/")
    first, step = int(number) - 1, int(parts)
    if not 0 <= first < step:
        raise ValueError(f"no part: {text}")
    return slice(first, None, step)


def _take_turns(rows: Iterable[Iterable[pytest.Item]]) -> list[pytest.Item]:
    """The first item of every row, then the second of every row, and so on."""
    return [item for turn in zip_longest(*rows) for item in turn if item is not None]


def _test_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def draw(cases: Sequence[Collection[Any]], seed: str, share: float = SHARE) -> set[int]:
    """The places of the drawn cases, of which there is at least one.

    A case is a collection of parameters. The case whose parameters were drawn least often is drawn
    next, so that each parameter is drawn if there is room for it.
    """
    dice, left = random.Random(seed), list(range(len(cases)))
    dice.shuffle(left)
    times: Counter[Any] = Counter()
    drawn: set[int] = set()
    for _ in range(math.ceil(share * len(cases))):
        rarest = min(left, key=lambda place: sum(times[value] for value in cases[place]))
        left.remove(rarest)
        drawn.add(rarest)
        times.update(cases[rarest])
    return drawn


def _parameters(item: pytest.Item) -> frozenset[tuple[str, int]]:
    """The parameters of a case, each by its name and its place among the values."""
    case = getattr(item, "callspec", None)
    return frozenset(case.indices.items()) if case else frozenset()
