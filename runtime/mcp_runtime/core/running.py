"""The peer's requests that have no response yet, alone or in a batch.

Source: 2025-03-26 basic/index, "Batching".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from msgspec import Struct

from mcp_runtime.core import jsonrpc
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.translation import Terms
from mcp_runtime.limits import Limits

SMALL: Final = 4096
"""Bytes of a message that is not counted; the number of such messages is limited."""


class HeldBytes(Struct, weakref=True):
    """Bytes of large messages that are held: not answered yet, or not sent yet."""

    count: int = 0

    def crossed(self, limits: Limits, more: Callable[[], int] | None = None) -> str:
        """The limit for which no large message can be held too; empty for none.

        `more` counts bytes that wait elsewhere.
        """
        if self.count + (0 if more is None else more()) > limits.held_bytes:
            return "Limits.held_bytes"
        return "Limits.process_bytes" if OF_PROCESS.count > limits.process_bytes else ""


OF_PROCESS: Final = HeldBytes()
"""What is held for all peers of the process together."""


class Hold:
    """Bytes that are held for a peer as long as this object is there."""

    __slots__ = ("_held", "_size")

    def __init__(self, held: HeldBytes, size: int = 0) -> None:
        self._held, self._size = held, 0
        self.change(size)

    def change(self, by: int) -> None:
        self._size += by
        self._held.count += by
        OF_PROCESS.count += by

    def __del__(self) -> None:
        self.change(-self._size)


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


class Cancellable(Protocol):
    """A request that a handler works on."""

    is_cancelled: bool


class Running(Struct):
    """A request of the peer that has no response yet."""

    method: str
    terms: Terms
    progress: float = float("-inf")
    batch: BatchResponses | None = None
    hold: Hold | None = None
    """Counts the bytes of its params, if they are many."""
    called: Cancellable | None = None
    """What the connection works on."""
