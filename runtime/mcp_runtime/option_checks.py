"""Checks of arguments: options of functions, of clients and of servers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast


def texts(option: str, given: Iterable[str], among: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the texts of an option. Raises ValueError for one that is not in `among`, if given.

    One text in place of a list is refused too: its letters would be read one by one.
    """
    if isinstance(given, str):
        raise ValueError(f"{option} is a list: write [{given!r:.80}] instead of {given!r:.80}")
    listed = tuple(given)
    if among and (others := [text for text in listed if text not in among]):
        raise ValueError(f"{option}: {others[0]!r:.80} is not one of {', '.join(among)}")
    return listed


def members(option: str, given: Any) -> dict[str, Any]:
    """Copy a mapping argument. Raises TypeError if it is not a mapping."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{option}: {given!r:.80} is not a dict")
    return dict(cast("Mapping[str, Any]", given))


def require_seconds(option: str, value: object) -> None:
    """Raise ValueError unless the value of an option is a number of seconds."""
    if not isinstance(value, int | float) or value != value:
        raise ValueError(f"{option} is {value!r}: give a number of seconds")
