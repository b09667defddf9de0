"""What a server has answered, for as long as it said that this holds.

Kept by one client, which asks under one authorization, so private answers are kept too. Each page
of a list is kept by itself. A change that is told makes what was kept old at once.

Source: 2026-07-28 server/utilities/caching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any, Final

from msgspec import UNSET

from mcp_runtime.core.events import Notified

__all__ = ["Cache", "cache_key"]

_CHANGES: Final[dict[str, tuple[str, ...]]] = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}
"""The lists that a notification makes old."""
_READ: Final = "resources/read"
_KEYS: Final = {
    "tools/list": "cursor",
    "prompts/list": "cursor",
    "resources/list": "cursor",
    "resources/templates/list": "cursor",
    _READ: "uri",
}
"""The member of the params that says what is asked for, by the methods whose answers are kept."""
_INPUT: Final = ("input_responses", "request_state")


def cache_key(method: str, params: Any) -> Hashable | None:
    """Of what may be kept; None for what may not, as the answer to an attempt with input.

    Source: 2026-07-28 server/utilities/caching, "Cache Key".
    """
    if method not in _KEYS:
        return None
    has_input = any(getattr(params, name, UNSET) is not UNSET for name in _INPUT)
    return None if has_input else getattr(params, _KEYS[method])


class Cache:
    """At most `most` answers, the oldest given up first. Times are in seconds, of any clock."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[tuple[str, Hashable], tuple[float, Any]] = {}
        self._changes: Counter[str] = Counter()

    def get(self, method: str, key: Hashable, now: float) -> Any:
        """The result that is fresh; None if there is none. `key` is what the request asks for."""
        fresh_until, result = self._kept.get((method, key), (now, None))
        return result if now < fresh_until else None

    def put(self, method: str, key: Hashable, result: Any, now: float) -> None:
        ttl = getattr(result, "ttl_ms", 0)
        self._kept.pop((method, key), None)
        if isinstance(ttl, int | float) and ttl > 0:
            self._kept[method, key] = (now + ttl / 1000, result)
        while len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]

    def drop(self, method: str) -> bool:
        """Whether something was kept of that list, all pages of which are given up."""
        found = [kept for kept in self._kept if kept[0] == method]
        for kept in found:
            del self._kept[kept]
        return bool(found)

    def changes(self, method: str) -> int:
        """How often answers were made old: one that was asked for before the last time is old."""
        return self._changes[method]

    def heed(self, event: Notified) -> None:
        """Gives up what a notification makes old."""
        for method in _CHANGES.get(event.method, ()):
            self._changes[method] += 1
            self.drop(method)
        if event.method == "notifications/resources/updated":
            self._changes[_READ] += 1
            uri: str = event.params.uri
            for method, key in [*self._kept]:
                if method == _READ and f"{uri}/".startswith(f"{str(key).rstrip('/')}/"):
                    del self._kept[method, key]
