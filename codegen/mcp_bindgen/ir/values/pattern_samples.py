"""Short texts accepted by a regular expression, for samples of a type with a pattern."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from mcp_bindgen.ir.values.pattern_cost import Places
from mcp_bindgen.ir.values.patterns import python_pattern

__all__ = ["words"]

_STEPS: Final = 2_000
"""Characters tried in search of texts; a pattern with high counts yields none."""
_LIKED: Final = "xX0 /-"
"""Preferred characters, in this order."""


def words(pattern: str) -> Iterator[str]:
    """Texts accepted by a pattern, the shortest first, one for each path through it."""
    accepts = re.compile(python_pattern(pattern)).search
    return filter(accepts, _read(Places(pattern)))


def _read(places: Places) -> Iterator[str]:
    """The texts of a pattern's automaton: repeats are not counted, and lookarounds are ignored."""
    whole = places.choice()
    if whole.empty:
        yield ""
    letters = [_prefer(characters) for characters in places.taken]
    waiting = deque((place, letters[place]) for place in whole.first)
    for _ in range(_STEPS):
        if not waiting:
            return
        place, text = waiting.popleft()
        if place in whole.last:
            yield text
        waiting.extend((after, text + letters[after]) for after in places.follow[place])


def _prefer(characters: frozenset[str]) -> str:
    """A preferred character of a place, or any; empty if it has none."""
    return next((c for c in _LIKED if c in characters), min(characters, default=""))
