"""Short texts that a regular expression accepts, for samples of a type with a pattern."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Final

from mcp_bindgen.ir.values.pattern_cost import Places
from mcp_bindgen.ir.values.patterns import python_pattern

__all__ = ["words"]

_STEPS: Final = 2_000
"""Characters that are added in search of texts; of a pattern that counts high, none is found."""
_LIKED: Final = "xX0 /-"
"""The characters that are chosen first where a place takes them."""


def words(pattern: str) -> Iterator[str]:
    """Texts that a pattern accepts, the shortest first, one for each way through it."""
    accepts = re.compile(python_pattern(pattern)).search
    return filter(accepts, _read(Places(pattern)))


def _read(places: Places) -> Iterator[str]:
    """What the automaton of a pattern accepts: it counts no repeats and does not look ahead."""
    whole = places.choice()
    if whole.empty:
        yield ""
    letters = [_liked(characters) for characters in places.taken]
    waiting = deque((place, letters[place]) for place in whole.first)
    for _ in range(_STEPS):
        if not waiting:
            return
        place, text = waiting.popleft()
        if place in whole.last:
            yield text
        waiting.extend((after, text + letters[after]) for after in places.follow[place])


def _liked(characters: frozenset[str]) -> str:
    """One of the characters of a place; none where it takes none."""
    return next((c for c in _LIKED if c in characters), min(characters, default=""))
