"""A token bucket, which limits the rate of events."""

from __future__ import annotations

import math


class Bucket:
    """Allows `rate` events a second on average, and as many at once. Times are in seconds."""

    __slots__ = ("_at", "_full", "_rate", "_room")

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._full = max(rate, 1.0)
        self._room = 0.0
        self._at = -math.inf

    def allow(self, now: float) -> bool:
        room = self._room + (now - self._at) * self._rate
        room = room if room < self._full else self._full  # NaN too, from an infinite rate
        self._at, self._room = now, room - (room >= 1)
        return room >= 1
