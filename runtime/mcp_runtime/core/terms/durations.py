"""Durations in milliseconds, as a peer names them."""

from __future__ import annotations


def in_seconds(milliseconds: object) -> float | None:
    """Convert milliseconds to seconds; None for any other value, or one beyond a double.

    JSON has integers of any length, and Python raises OverflowError when it converts a huge one.
    """
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    try:
        seconds = milliseconds / 1000
    except OverflowError:
        return None
    return seconds if seconds - seconds == 0 else None  # neither NaN nor infinite
