"""The answers of one server, kept for as long as the server allowed.

A cache belongs to one client, which always uses the same authorization, so private answers are
kept too. Each page of a list is an entry of its own. A notification of a change drops what it
concerns at once. In revisions with digests of lists, pages of another digest are dropped, and a
page that comes again with the same one makes the others fresh.

Source: 2026-07-28 server/utilities/caching; the draft "Definition Digests" of 2026-09-04.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from mcp_runtime.core.session.events import Notified
from mcp_runtime.core.session.held import KEPT, PARSED, HeldBytes, Hold
from mcp_runtime.core.terms.durations import in_seconds
from mcp_runtime.limits import DIGEST_CHARS, Limits
from mcp_runtime.revisions import latest

_CHANGES: Final[dict[str, tuple[str, ...]]] = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}
"""The lists a notification makes stale."""
_READ: Final = "resources/read"
_KEYS: Final = {
    "tools/list": "cursor",
    "prompts/list": "cursor",
    "resources/list": "cursor",
    "resources/templates/list": "cursor",
    _READ: "uri",
}
"""By method: the member of the params by which answers differ."""
_INPUT: Final = ("input_responses", "request_state")


def cache_key(method: str, params: Any) -> Hashable | None:
    """Return the key of an answer; None if it may not be cached, as after a round of input.

    Source: 2026-07-28 server/utilities/caching, "Cache Key".
    """
    if method not in _KEYS:
        return None
    has_input = any(getattr(params, name, UNSET) is not UNSET for name in _INPUT)
    return None if has_input else getattr(params, _KEYS[method])


class _Entry(NamedTuple):
    """An answer, until when it is fresh, and how many bytes it counts."""

    fresh_until: float
    result: Any
    size: int


class Cache:
    """Keeps at most `Limits.cached` answers, of `Limits.cached_bytes` together.

    Stale answers are dropped first, then those unused for longest; all answers may be dropped if
    the process needs the room. Times are seconds of any clock.
    """

    def __init__(self, limits: Limits, *, keeps: bool = True) -> None:
        self._limits = limits
        self._most = limits.cached if keeps else 0
        self._entries: dict[tuple[str, Hashable], _Entry] = {}
        """The answers; those unused for longest come first."""
        self._changes: Counter[str] = Counter()
        self.digests: Final[dict[str, str]] = {}
        """The digests of lists as they were read last, by method; requests repeat them."""
        self._held = HeldBytes()
        self._hold = Hold(self._held)

    def get(self, method: str, key: Hashable, now: float) -> Any:
        """Return the fresh result under this key; None if there is none."""
        entry = self._entries.pop((method, key), None)
        if entry is None:
            return None
        self._entries[method, key] = entry
        return entry.result if now < entry.fresh_until else None

    def put(self, method: str, key: Hashable, result: Any, now: float) -> None:
        """Keep an answer for as long as it says, unless there is no room for it."""
        self._remove([(method, key)])
        ttl = in_seconds(getattr(result, "ttl_ms", 0))
        digest = getattr(result, "digest", UNSET)
        if digest is not UNSET and self._most:
            self._compare_digest(method, digest, now + (ttl or 0))
        if ttl is None or ttl <= 0 or not self._most:
            return
        size = len(latest.encode(result)) * (1 if method == _READ else PARSED)
        if size > self._limits.cached_bytes:
            return
        is_full = self._lacks_room(size)
        self._remove([e for e in self._entries if is_full and self._entries[e].fresh_until <= now])
        while self._lacks_room(size):
            self._remove_oldest()
        if self._held.make_room(self._limits, size):
            return
        self._entries[method, key] = _Entry(now + ttl, result, size)
        self._hold.change(size)
        self._hold.offer(KEPT, self._give_up)

    def _compare_digest(self, method: str, digest: str, fresh_until: float) -> None:
        """Drop the pages with another digest than a new one has, and freshen those with its own."""
        self.digests.pop(method, None)
        if len(digest) <= DIGEST_CHARS:
            self.digests[method] = digest
        pages = {at: page for at, page in self._entries.items() if at[0] == method}
        self._remove(at for at, page in pages.items() if page.result.digest != digest)
        for at, page in pages.items():
            if at in self._entries:
                later = max(page.fresh_until, fresh_until)
                self._entries[at] = page._replace(fresh_until=later)

    def _lacks_room(self, size: int) -> bool:
        is_full = len(self._entries) >= self._most
        return is_full or self._hold.size + size > self._limits.cached_bytes

    def _remove(self, keys: Iterable[tuple[str, Hashable]]) -> None:
        for key in keys:
            if (entry := self._entries.pop(key, None)) is not None:
                self._hold.change(-entry.size)

    def _remove_oldest(self) -> None:
        self._remove([next(iter(self._entries))])

    def _give_up(self) -> None:
        """Drop the answer unused for longest: others need the room."""
        if self._entries:
            self._remove_oldest()
        if self._entries:
            self._hold.offer(KEPT, self._give_up)

    def drop(self, method: str) -> bool:
        """Drop all cached pages of a list, and its digest; return True if there were any pages."""
        self.digests.pop(method, None)
        entries = [entry for entry in self._entries if entry[0] == method]
        self._remove(entries)
        return bool(entries)

    def clear(self) -> None:
        """Drop all answers, and keep none whose request is under way."""
        self._changes.update(_KEYS.keys())
        self.digests.clear()
        self._remove([*self._entries])

    def changes(self, method: str) -> int:
        """Return how often answers to this method became stale.

        An answer requested before the last of these times is stale, too.
        """
        return self._changes[method]

    def drop_stale(self, event: Notified) -> None:
        """Drop the answers a notification makes stale."""
        self.drop_lists(_CHANGES.get(event.method, ()))
        if event.method == "notifications/resources/updated":
            self._changes[_READ] += 1
            self._drop_resource(event.params.uri)

    def drop_lists(self, methods: Iterable[object]) -> None:
        """Drop these lists, and keep no page of them whose request is under way.

        Anything that is no method of a list is ignored.
        """
        for method in methods:
            if isinstance(method, str) and method in _KEYS:
                self._changes[method] += 1
                self.drop(method)

    def _drop_resource(self, uri: str) -> None:
        """Drop this resource, and those it lies below."""
        for method, key in [*self._entries]:
            if method == _READ and f"{uri}/".startswith(f"{str(key).rstrip('/')}/"):
                self._remove([(method, key)])
