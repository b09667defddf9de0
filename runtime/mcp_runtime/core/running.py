"""The peer's requests that have no response yet, alone or in a batch.

Source: 2025-03-26 basic/index, "Batching".
"""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec import Struct

from mcp_runtime.core import jsonrpc
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.translation import Terms

__all__ = ["BatchResponses", "Running"]


@dataclass(slots=True)
class BatchResponses:
    """`open` are the requests of the batch that are still worked on."""

    open: set[Id] = field(default_factory=set[Id])
    responses: list[bytes] = field(default_factory=list[bytes])
    is_read: bool = False

    def add(self, id: Id, response: bytes) -> bytes:
        """All responses if this is the last one, else nothing; a cancelled request has none."""
        self.open.discard(id)
        self.responses += [response] if response else []
        return self.all()

    def all(self) -> bytes:
        is_complete = self.is_read and not self.open
        return jsonrpc.batch(self.responses) if is_complete and self.responses else b""


class Running(Struct):
    """A request of the peer that has no response yet."""

    method: str
    terms: Terms
    progress: float = float("-inf")
    batch: BatchResponses | None = None
