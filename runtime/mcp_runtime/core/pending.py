"""Our requests that are not answered yet: deadlines, progress tokens, cancellation.

Times are seconds on the caller's clock.

Source: 2025-11-25 basic/lifecycle, "Timeouts"; basic/utilities/progress and cancellation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.errors import require_seconds


@dataclass(frozen=True, slots=True)
class Timeout:
    """How long to wait for a response, in seconds: `each` at a time, `total` at most.

    Progress starts `each` again if `progress_counts`.
    """

    each: float
    total: float = inf
    progress_counts: bool = False

    def __post_init__(self) -> None:
        require_seconds("timeout", self.each)


@dataclass(slots=True)
class Sent:
    """A request of ours: when it must be answered, and the last progress that was reported."""

    id: Id
    method: str
    timeout: Timeout
    started: float
    last: float
    due: float
    token: Id | None = None
    progress: float = -inf
    about: Id | None = None
    """The peer's request that it belongs to."""
    waiter: Any = None
    """A future of the connection; nobody waits for an answer where there is none."""
    on_progress: Callable[[float, float | None, str | None], object] | None = None

    def extend(self, now: float) -> None:
        self.due = min(now + self.timeout.each, self.last)


class Pending:
    """At most one request under each id; a string and a number are never the same id."""

    __slots__ = ("_sent", "_tokens")

    def __init__(self) -> None:
        self._sent: dict[Id, Sent] = {}
        self._tokens: dict[Id, Sent] = {}

    def __len__(self) -> int:
        return len(self._sent)

    def __contains__(self, id: Id) -> bool:
        return id in self._sent

    def add(
        self, id: Id, method: str, timeout: Timeout, now: float, token: Id | None = None
    ) -> Sent:
        """Raises ValueError for a progress token of another request that is pending."""
        if token in self._tokens:
            raise ValueError(f"the progress token {token!r} is that of another open request")
        last = now + timeout.total
        sent = Sent(id, method, timeout, now, last, min(now + timeout.each, last), token)
        self._sent[id] = sent
        if token is not None:
            self._tokens[token] = sent
        return sent

    def pop(self, id: Id) -> Sent | None:
        """The request with that id, no longer pending; None for one that is not."""
        sent = self._sent.pop(id, None)
        if sent is not None and sent.token is not None:
            del self._tokens[sent.token]
        return sent

    def progressed(self, token: Id, progress: float, now: float) -> Sent | None:
        """The request of a progress token; None if that is unknown, or nothing has advanced."""
        sent = self._tokens.get(token)
        if sent is None or progress <= sent.progress:
            return None
        sent.progress = progress
        if sent.timeout.progress_counts:
            sent.extend(now)
        return sent

    @property
    def due(self) -> float | None:
        """When the first request must be answered; None if none is pending."""
        return min((sent.due for sent in self._sent.values()), default=None)

    def late(self, now: float) -> list[Sent]:
        """The requests whose time is over."""
        return [sent for sent in self._sent.values() if sent.due <= now]

    @property
    def waited(self) -> list[Sent]:
        """The requests that somebody waits for."""
        return [sent for sent in self._sent.values() if sent.waiter is not None]

    def of(self, method: str) -> list[Sent]:
        """The requests of a method."""
        return [sent for sent in self._sent.values() if sent.method == method]

    def postpone(self, seconds: float) -> None:
        """Gives every request that much longer: the peer was not to blame for that time."""
        for sent in self._sent.values():
            sent.last += seconds
            sent.due += seconds

    def drain(self) -> Iterator[Sent]:
        """All of them, no longer pending."""
        for id in list(self._sent):
            if (sent := self.pop(id)) is not None:
                yield sent
