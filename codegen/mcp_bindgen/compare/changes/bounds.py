"""Compares bounds by meaning: finds equal and tighter bounds, and the values they apply to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil, floor
from typing import Final, TypeAlias

from mcp_bindgen.ir.model import Bounded, Kind, Limits, Type

__all__ = ["concerning", "limits_of", "normal", "tighter"]

_Bound: TypeAlias = int | float | None
_CONCERNS: Final[dict[str, tuple[str, ...]]] = {
    "number": (
        *("minimum", "maximum", "exclusive_minimum", "exclusive_maximum"),
        *("integer", "multiple_of"),
    ),
    "string": ("min_length", "max_length", "pattern"),
    "array": ("min_items", "max_items", "unique_items"),
}


def limits_of(type: Type) -> Limits:
    return type.limits if isinstance(type, Bounded) else Limits()


def concerning(limits: Limits, kinds: Iterable[Kind]) -> Limits:
    """The limits which apply to values of these kinds."""
    names = (name for kind in kinds for name in _CONCERNS.get(kind, ()))
    return Limits(**{name: getattr(limits, name) for name in names})


def normal(limits: Limits) -> Limits:
    """Normalize limits: equal results allow the same values.

    Of an inclusive and an exclusive bound the tighter one stays, and integers get inclusive whole
    bounds. A minimum length or number of items of 0 is dropped.
    """
    least, above = _tighter_bound(limits.minimum, limits.exclusive_minimum, _is_more)
    most, below = _tighter_bound(limits.maximum, limits.exclusive_maximum, _is_less)
    if limits.integer:
        least, above = _whole_least(least, above), None
        most, below = _whole_most(most, below), None
    return replace(
        limits,
        minimum=least,
        exclusive_minimum=above,
        maximum=most,
        exclusive_maximum=below,
        min_items=limits.min_items or None,
        min_length=limits.min_length or None,
    )


def _is_more(a: float, b: float) -> bool:
    return a > b


def _is_less(a: float, b: float) -> bool:
    return a < b


def _tighter_bound(
    inclusive: _Bound, exclusive: _Bound, beyond: Callable[[float, float], bool]
) -> tuple[_Bound, _Bound]:
    """The two bounds without a redundant one."""
    if inclusive is None or exclusive is None:
        return inclusive, exclusive
    return (inclusive, None) if beyond(inclusive, exclusive) else (None, exclusive)


def _whole_least(inclusive: _Bound, exclusive: _Bound) -> _Bound:
    if exclusive is not None:
        return floor(exclusive) + 1
    return None if inclusive is None else ceil(inclusive)


def _whole_most(inclusive: _Bound, exclusive: _Bound) -> _Bound:
    if exclusive is not None:
        return ceil(exclusive) - 1
    return None if inclusive is None else floor(inclusive)


def tighter(mine: Limits, theirs: Limits) -> bool:
    """Return whether all within `mine` is within `theirs`."""
    a, b = normal(mine), normal(theirs)
    return (
        _least(a) >= _least(b)
        and _most(a) <= _most(b)
        and (a.integer or not b.integer)
        and (a.min_items or 0) >= (b.min_items or 0)
        and (a.min_length or 0) >= (b.min_length or 0)
        and _within(a.max_items, b.max_items)
        and _within(a.max_length, b.max_length)
        and b.multiple_of in (a.multiple_of, None)
        and b.pattern in (a.pattern, None)
        and a.unique_items >= b.unique_items
    )


def _least(limits: Limits) -> tuple[float, bool]:
    """The lower bound, and whether it is exclusive; a larger result is tighter."""
    if limits.exclusive_minimum is not None:
        return limits.exclusive_minimum, True
    return (float("-inf") if limits.minimum is None else limits.minimum), False


def _most(limits: Limits) -> tuple[float, bool]:
    """The upper bound, and whether it is inclusive; a smaller result is tighter."""
    if limits.exclusive_maximum is not None:
        return limits.exclusive_maximum, False
    return (float("inf") if limits.maximum is None else limits.maximum), True


def _within(mine: int | None, theirs: int | None) -> bool:
    return theirs is None or (mine is not None and mine <= theirs)
