"""Requests of the peer without a response yet, alone or in a batch.

Source: 2025-03-26 basic/index, "Batching".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from mcp_runtime.core.session.held import EVENT_BYTES, Hold
from mcp_runtime.core.terms.translation import Terms
from mcp_runtime.core.wire import jsonrpc
from mcp_runtime.core.wire.jsonrpc import Id


@dataclass(slots=True)
class BatchResponses:
    """The responses to one batch; `open` has the ids of its requests still running."""

    hold: Hold
    """Counts the bytes of responses while they wait for the last response."""
    open: set[Id] = field(default_factory=set[Id])
    responses: list[bytes] = field(default_factory=list[bytes])
    is_read: bool = False

    def add(self, id: Id, response: bytes) -> bytes:
        """Record the response to a request of the batch; b"" stands for a cancelled request.

        Return the whole batch if no request is open any more, else b"".
        """
        self.open.discard(id)
        if response:
            self.keep(response)
        return self.all()

    def keep(self, response: bytes) -> None:
        """Store a response until the batch is complete."""
        self.responses.append(response)
        self.hold.change(len(response) + EVENT_BYTES)

    def all(self) -> bytes:
        """Return all responses as one array, and forget them; b"" until the batch is complete."""
        if not self.is_read or self.open or not self.responses:
            return b""
        whole = jsonrpc.batch(self.responses)
        self.responses.clear()
        self.hold.change(-self.hold.size)
        return whole


class Cancellable(Protocol):
    """A request in the hands of a handler."""

    is_cancelled: bool


class RunningRequest(Struct):
    """A request of the peer without a response yet."""

    method: str
    terms: Terms
    size: int
    """The bytes counted for the request in the account of its session."""
    called: Cancellable | None
    """The event given to the connection; None for a request answered by the session itself."""
    progress: float = float("-inf")
    batch: BatchResponses | None = None
