"""Checks of bounds, beyond plain comparisons: multiples, patterns, distinct items."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Final

from .values import Json

_compiled: Final = cache(re.compile)


def is_multiple(x: float, step: float) -> bool:
    """Return whether `x` is a multiple of `step`, in decimal arithmetic: 0.3 is one of 0.1."""
    return Decimal(str(x)) % Decimal(str(step)) == 0


def matches(pattern: str, x: str) -> bool:
    """Return whether a regular expression matches anywhere in a text."""
    return _compiled(pattern).search(x) is not None


def is_name(
    pattern: str, longest: int | None, name: str, error: Callable[[str], Exception]
) -> bool:
    """Return whether a pattern matches a name.

    Raises `error(words)` for a name over `longest` characters, before the pattern is tried.
    """
    if longest is not None and len(name) > longest:
        raise error(f"names of at most {longest} characters")
    return matches(pattern, name)


def are_unique(items: list[Json]) -> bool:
    """Return whether no two items are equal JSON: 1 equals 1.0, and 1 differs from true."""
    return len({_key(item) for item in items}) == len(items)


def _key(value: Json) -> object:
    if value.__class__ is list:
        return tuple(map(_key, value))
    if value.__class__ is dict:
        return frozenset((name, _key(item)) for name, item in value.items())
    return value.__class__ is bool, value
