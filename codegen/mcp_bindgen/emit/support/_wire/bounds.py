"""Bounds that take more than a comparison: multiples, patterns, items that differ."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import Final

from .values import Json

_compiled: Final = cache(re.compile)


def is_multiple(x: float, step: float) -> bool:
    """Return whether a number is a multiple of another, both as they are written in decimals."""
    return Decimal(str(x)) % Decimal(str(step)) == 0


def matches(pattern: str, x: str) -> bool:
    """Return whether a regular expression is found anywhere in a text."""
    return _compiled(pattern).search(x) is not None


def are_unique(items: list[Json]) -> bool:
    """Return whether no two items are the same JSON: 1 is 1.0, and no truth value."""
    return len({_key(item) for item in items}) == len(items)


def _key(value: Json) -> object:
    if value.__class__ is list:
        return tuple(map(_key, value))
    if value.__class__ is dict:
        return frozenset((name, _key(item)) for name, item in value.items())
    return value.__class__ is bool, value
