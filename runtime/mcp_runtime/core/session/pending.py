"""Our requests without an answer yet: deadlines, progress tokens, cancellation.

Times are seconds on the caller's clock.

Source: 2025-11-25 basic/lifecycle, "Timeouts"; basic/utilities/progress and cancellation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Any

from msgspec import Struct

from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.option_checks import require_seconds


class Timeout(Struct, frozen=True):
    """The seconds to wait for a response: `each` at first, `total` with all extensions.

    A progress notification starts `each` again if `progress_counts`.
    """

    each: float
    total: float = inf
    progress_counts: bool = False

    def __post_init__(self) -> None:
        require_seconds("timeout", self.each)


class PendingRequest(Struct):
    """A pending request of ours: its deadlines, and the last progress reported."""

    id: Id
    method: str
    timeout: Timeout
    started: float
    last: float
    due: float
    token: Id | None = None
    progress: float = -inf
    about: Id | None = None
    """The id of the peer's request during which this request was sent."""
    waiter: Any = None
    """The caller's future, set by the connection; None if no caller waits."""
    on_progress: Callable[[float, float | None, str | None], object] | None = None
    is_carried: bool = False
    """True if the result is wanted as JSON, not as a model."""
    is_open: bool = False
    """True if a carried result may have a type of an extension."""

    def extend(self, now: float) -> None:
        self.due = min(now + self.timeout.each, self.last)


class Pending:
    """All pending requests by id; a string and a number are never the same id."""

    __slots__ = ("_sent", "_tokens")

    def __init__(self) -> None:
        self._sent: dict[Id, PendingRequest] = {}
        self._tokens: dict[Id, PendingRequest] = {}

    def __len__(self) -> int:
        return len(self._sent)

    def __contains__(self, id: Id) -> bool:
        return id in self._sent

    def has_token(self, token: Id) -> bool:
        """Return True if a pending request has this progress token."""
        return token in self._tokens

    def add(
        self, id: Id, method: str, timeout: Timeout, now: float, token: Id | None = None
    ) -> PendingRequest:
        """Add a request. Raises ValueError if another pending request has its progress token."""
        if token in self._tokens:
            raise ValueError(f"the progress token {token!r} is that of another open request")
        last = now + timeout.total
        sent = PendingRequest(id, method, timeout, now, last, min(now + timeout.each, last), token)
        self._sent[id] = sent
        if token is not None:
            self._tokens[token] = sent
        return sent

    def pop(self, id: Id) -> PendingRequest | None:
        """Remove and return the request with this id; None if no such request is pending."""
        sent = self._sent.pop(id, None)
        if sent is not None and sent.token is not None:
            del self._tokens[sent.token]
        return sent

    def record_progress(self, token: Id, progress: float, now: float) -> PendingRequest | None:
        """Record progress and return its request.

        None for an unknown token, and if `progress` is not above the last value.
        """
        sent = self._tokens.get(token)
        if sent is None or progress <= sent.progress:
            return None
        sent.progress = progress
        if sent.timeout.progress_counts:
            sent.extend(now)
        return sent

    @property
    def due(self) -> float | None:
        """The earliest deadline; None if no request is pending."""
        return min((sent.due for sent in self._sent.values()), default=None)

    def late(self, now: float) -> list[PendingRequest]:
        """Return the requests whose deadline has passed."""
        return [sent for sent in self._sent.values() if sent.due <= now]

    @property
    def with_caller(self) -> list[PendingRequest]:
        """The requests with a waiting caller."""
        return [sent for sent in self._sent.values() if sent.waiter is not None]

    def of(self, method: str) -> list[PendingRequest]:
        """Return the pending requests of a method."""
        return [sent for sent in self._sent.values() if sent.method == method]

    def postpone(self, seconds: float) -> None:
        """Move all deadlines by `seconds`, for time that is not the peer's fault."""
        for sent in self._sent.values():
            sent.last += seconds
            sent.due += seconds

    def drain(self) -> Iterator[PendingRequest]:
        """Remove and yield all requests."""
        for id in list(self._sent):
            if (sent := self.pop(id)) is not None:
                yield sent
