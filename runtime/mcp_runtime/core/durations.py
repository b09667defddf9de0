"""Durations that a peer names, in milliseconds."""

from __future__ import annotations


def in_seconds(milliseconds: object) -> float | None:
    """Seconds; None for what is no number of milliseconds, or one beyond a double.

    JSON has integers of any length, and Python raises OverflowError where such a one meets a float.
    """
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    try:
        seconds = milliseconds / 1000
    except OverflowError:
        return None
    return seconds if seconds - seconds == 0 else None  # neither NaN nor infinite
