"""Limits the length of texts matched with a pattern, so Python's `re` ends in reasonable time.

`re` backtracks over every possible continuation. If the next character always leads to one place of
the pattern, matching is linear; each place with two continuations may cost a factor of the length,
and inside a loop a factor of two per character. Places are those of the Glushkov automaton.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import Final, NamedTuple

from mcp_bindgen.ir.model import Limits
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.limits import MAX_PATTERN_CHARS

__all__ = ["AS_TIMELY", "Places", "longest", "timely"]

AS_TIMELY: Final = "Write it so that each character can be read in one way only."

_TOKEN: Final = re.compile(
    r"""
    (?P<aside> \(\?<?[=!] ) | (?P<open> \((?:\?(?::|<\w+>))? ) | (?P<close> \) ) | (?P<bar> \| )
  | (?P<nothing> [\^$] | \\[bB] )
  | (?P<unit> \[\^?(?:\\.|[^\]\\])*\] | \\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|.) | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIER: Final = re.compile(r"(?:(?P<many>[*+]|\{(?P<least>\d+)(?:,\d*)?\})|\?)\??")
_CHARACTERS: Final = "".join(map(chr, range(0x3100))) + "\ufeff\U0010ffff"


@lru_cache(maxsize=256)
def longest(pattern: str) -> int | None:
    """The longest text to match with a pattern, in characters; None for any length.

    Raises ValueError, with words, for a pattern with unbounded cost on a short text.
    """
    places = Places(pattern)
    places.choice()
    anchored = pattern.startswith("^") and not places.bars
    work = places.work() + (bool(places.loops) and not anchored) + places.scans
    if work >= len(MAX_PATTERN_CHARS):
        raise ValueError("it may try a text again from too many of its places")
    return MAX_PATTERN_CHARS[work]


def timely(limits: Limits) -> Limits:
    """Bounds with a pattern, plus a length which keeps matching short. Raises as `longest`."""
    most = None if limits.pattern is None else longest(limits.pattern)
    if most is None:
        return limits
    return replace(
        limits, max_length=most if limits.max_length is None else min(most, limits.max_length)
    )


class _Part(NamedTuple):
    """The first and last places of a part of the pattern, and whether it can be empty."""

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    empty: bool = True


class Places:
    """Reads a pattern; `follow` has the next places of each place.

    `scans` counts the lookarounds which read on in a loop, possibly from each place of a text;
    those at the very beginning of the pattern, up to `begin`, run once.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.bars = 0
        self.taken: list[frozenset[str]] = []
        self.follow: list[list[int]] = []
        self.loops: list[range] = []
        self.scans = 0
        self.begin = int(pattern.startswith("^"))

    # choice = sequence { "|" sequence }
    def choice(self) -> _Part:
        part = self.sequence()
        while self.pattern.startswith("|", self.at):
            self.at += 1
            self.bars += 1
            other = self.sequence()
            empty = part.empty or other.empty
            part = _Part(part.first + other.first, part.last + other.last, empty)
        return part

    def sequence(self) -> _Part:
        whole = _Part()
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            part = self.repeat()
            self.join(whole.last, part.first)
            first = whole.first + part.first if whole.empty else whole.first
            last = part.last + whole.last if part.empty else part.last
            whole = _Part(first, last, whole.empty and part.empty)
        return whole

    def join(self, last: tuple[int, ...], first: tuple[int, ...]) -> None:
        for place in last:
            self.follow[place] += first

    # repeated = (unit | group | assertion) [quantifier]
    def repeat(self) -> _Part:
        start = len(self.taken)
        part = self.once()
        quantifier = _QUANTIFIER.match(self.pattern, self.at)
        if quantifier is None:
            return part
        self.at = quantifier.end()
        if quantifier["many"] is None:
            return part._replace(empty=True)
        if part.empty and part.first and quantifier["least"]:
            raise ValueError("it counts repeats of what may be nothing")
        self.join(part.last, part.first)
        self.loops.append(range(start, len(self.taken)))
        nothing = quantifier[0][0] == "*" or int(quantifier["least"] or 1) == 0
        return part._replace(empty=part.empty or nothing)

    def once(self) -> _Part:
        token = _TOKEN.match(self.pattern, self.at)
        assert token is not None
        start, loops = self.at, len(self.loops)
        self.at = token.end()
        if token.lastgroup in ("open", "aside"):
            bars, inner = self.bars, self.choice()
            self.at, self.bars = self.at + 1, bars
            if token.lastgroup == "open":
                return inner
            if start == self.begin:
                self.begin = self.at
            else:
                self.scans += len(self.loops) > loops
            return _Part()
        if token.lastgroup == "nothing":
            return _Part()
        self.taken.append(_characters(token[0]))
        self.follow.append([])
        place = (len(self.taken) - 1,)
        return _Part(place, place, False)

    def work(self) -> int:
        """The number of repeated places with two continuations; four other places count as one."""
        places = [place for place in range(len(self.taken)) if self.is_open(place)]
        repeat = sum(any(place in loop for loop in self.loops) for place in places)
        return repeat + (len(places) - repeat) // 4

    def is_open(self, place: int) -> bool:
        pairs = [(a, b) for a, b in combinations(self.follow[place], 2) if self.intersect(a, b)]
        for a, b in pairs:
            if any(place in loop and a in loop and b in loop for loop in self.loops):
                raise ValueError("it repeats what can be read in two ways")
        return bool(pairs)

    def intersect(self, a: int, b: int) -> bool:
        return not self.taken[a].isdisjoint(self.taken[b])


@lru_cache(maxsize=256)
def _characters(unit: str) -> frozenset[str]:
    """The characters of a unit; any character for a back-reference."""
    if unit[0] == "\\" and unit[1].isdigit():
        return frozenset(_CHARACTERS)
    return frozenset(re.findall(python_pattern(unit), _CHARACTERS))
