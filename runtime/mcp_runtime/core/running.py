"""The peer's requests that have no response yet, alone or in a batch.

Source: 2025-03-26 basic/index, "Batching".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from mcp_runtime.core import jsonrpc
from mcp_runtime.core.held import EVENT_BYTES, Hold
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.translation import Terms


@dataclass(slots=True)
class BatchResponses:
    """`open` are the requests of the batch that are still worked on."""

    hold: Hold
    """Counts the bytes of the responses while they wait for the last one."""
    open: set[Id] = field(default_factory=set[Id])
    responses: list[bytes] = field(default_factory=list[bytes])
    is_read: bool = False

    def add(self, id: Id, response: bytes) -> bytes:
        """All responses if this is the last one, else nothing; a cancelled request has none."""
        self.open.discard(id)
        if response:
            self.keep(response)
        return self.all()

    def keep(self, response: bytes) -> None:
        """Has a response wait for those to the rest of the batch."""
        self.responses.append(response)
        self.hold.change(len(response) + EVENT_BYTES)

    def all(self) -> bytes:
        """All responses, which are not kept here any longer; nothing until there are all."""
        if not self.is_read or self.open or not self.responses:
            return b""
        whole = jsonrpc.batch(self.responses)
        self.responses.clear()
        self.hold.change(-self.hold.size)
        return whole


class Cancellable(Protocol):
    """A request that a handler works on."""

    is_cancelled: bool


class Running(Struct):
    """A request of the peer that has no response yet."""

    method: str
    terms: Terms
    size: int
    """What it counts in the account of its session."""
    called: Cancellable | None
    """What the connection works on; None for a request that the session answers by itself."""
    progress: float = float("-inf")
    batch: BatchResponses | None = None
