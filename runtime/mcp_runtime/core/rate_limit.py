"""A token bucket: how often something may happen."""

from __future__ import annotations


class Bucket:
    """Allows `rate` events a second on average, and as many at once. Times are in seconds."""

    __slots__ = ("_at", "_full", "_rate", "_room")

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._full = max(rate, 1.0)
        self._room = self._full
        self._at: float | None = None

    def allow(self, now: float) -> bool:
        if self._at is not None:
            room = self._room + (now - self._at) * self._rate
            self._room = room if room < self._full else self._full
        self._at = now
        if self._room < 1:
            return False
        self._room -= 1
        return True
