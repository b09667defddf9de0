"""The answers of one server, kept for as long as it said that they hold.

A cache belongs to one client, which always uses the same authorization, so private answers are
kept too. Each page of a list is an entry of its own. A notification of a change drops what it
concerns at once.

Source: 2026-07-28 server/utilities/caching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any, Final

from msgspec import UNSET

from mcp_runtime.core.durations import in_seconds
from mcp_runtime.core.events import Notified

_CHANGES: Final[dict[str, tuple[str, ...]]] = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}
"""The lists that a notification makes stale."""
_READ: Final = "resources/read"
_KEYS: Final = {
    "tools/list": "cursor",
    "prompts/list": "cursor",
    "resources/list": "cursor",
    "resources/templates/list": "cursor",
    _READ: "uri",
}
"""By method: the member of the params that tells one answer from another."""
_INPUT: Final = ("input_responses", "request_state")


def cache_key(method: str, params: Any) -> Hashable | None:
    """The key of an answer; None if it may not be cached, as after a round of input.

    Source: 2026-07-28 server/utilities/caching, "Cache Key".
    """
    if method not in _KEYS:
        return None
    has_input = any(getattr(params, name, UNSET) is not UNSET for name in _INPUT)
    return None if has_input else getattr(params, _KEYS[method])


class Cache:
    """Keeps at most `size` answers and drops the oldest first. Times are seconds of any clock."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[tuple[str, Hashable], tuple[float, Any]] = {}
        self._changes: Counter[str] = Counter()

    def get(self, method: str, key: Hashable, now: float) -> Any:
        """The fresh result under that key; None if there is none."""
        fresh_until, result = self._entries.get((method, key), (now, None))
        return result if now < fresh_until else None

    def put(self, method: str, key: Hashable, result: Any, now: float) -> None:
        ttl = in_seconds(getattr(result, "ttl_ms", 0))
        self._entries.pop((method, key), None)
        if ttl is not None and ttl > 0:
            self._entries[method, key] = (now + ttl, result)
        while len(self._entries) > self._size:
            del self._entries[next(iter(self._entries))]

    def drop(self, method: str) -> bool:
        """Drops all pages of that list; whether there were any."""
        entries = [entry for entry in self._entries if entry[0] == method]
        for entry in entries:
            del self._entries[entry]
        return bool(entries)

    def clear(self) -> None:
        """Drops all answers, and those that are on their way."""
        self._changes.update(_KEYS.keys())
        self._entries.clear()

    def changes(self, method: str) -> int:
        """How often answers to this method became stale.

        An answer that was requested before the last of these times is stale, too.
        """
        return self._changes[method]

    def notified(self, event: Notified) -> None:
        """Drops what a notification makes stale."""
        for method in _CHANGES.get(event.method, ()):
            self._changes[method] += 1
            self.drop(method)
        if event.method == "notifications/resources/updated":
            self._changes[_READ] += 1
            self._drop_resource(event.params.uri)

    def _drop_resource(self, uri: str) -> None:
        """Drops that resource, and those that it lies below."""
        for method, key in [*self._entries]:
            if method == _READ and f"{uri}/".startswith(f"{str(key).rstrip('/')}/"):
                del self._entries[method, key]
