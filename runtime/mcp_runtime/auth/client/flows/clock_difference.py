"""Measures the clock difference to a host that has refused us.

The other side judges proofs, assertions and expiry by its own clock, and its refusal seldom says
so.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

_SAME: Final = 30.0
"""Seconds of difference at which clocks count as equal; it includes the time of an answer."""


def clock_difference(headers: Mapping[str, str], now: float) -> str:
    """A clause for an error, by the `Date` of a response; empty if there is none or it fits.

    `now` is in seconds since 1970.
    """
    try:
        ahead = now - parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (ValueError, OverflowError):
        return ""
    if abs(ahead) <= _SAME:
        return ""
    how = "ahead of" if ahead > 0 else "behind"
    return f"; our clock is {abs(ahead):.0f} s {how} the one of the host that refused: set it"
