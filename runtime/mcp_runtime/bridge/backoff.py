"""The waits before a failed server is started again, for each client by itself."""

from __future__ import annotations

from typing import Final

_FIRST: Final = 0.5
"""Seconds until the first try after a failure; they double with each failure."""


class Backoff:
    """Waits by key, each at most `longest` seconds; the oldest of over `most` keys is forgotten.

    A client whose requests end its server waits alone: others do not. A server that has worked is
    started again at once the first time. Times are in seconds.
    """

    def __init__(self, longest: float, most: int) -> None:
        self._longest = longest
        self._most = most
        self._waits: dict[bytes, tuple[int, float]] = {}
        """The number of failures in a row, and the time of the next try."""

    def fail(self, key: bytes, now: float, *, worked: bool) -> None:
        """Note a failure; `worked` if the server was there before."""
        failures = self._waits.pop(key, (0, 0.0))[0] + 1
        doubled = failures - 1 - worked
        wait = min(_FIRST * 2 ** min(doubled, 32), self._longest) if doubled >= 0 else 0.0
        self._waits[key] = failures, now + wait
        while len(self._waits) > self._most:
            del self._waits[next(iter(self._waits))]

    def admits(self, key: bytes, now: float) -> bool:
        """Return True if a try is due."""
        return now >= self._waits.get(key, (0, 0.0))[1]

    def forget(self, key: bytes) -> None:
        """Forget the failures: a request was answered."""
        self._waits.pop(key, None)

    def forget_all_of(self, prefix: bytes) -> None:
        """Forget the failures of a client, which has gone."""
        for key in [key for key in self._waits if key.startswith(prefix)]:
            del self._waits[key]
