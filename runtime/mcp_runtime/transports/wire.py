"""The interface of a byte stream to a peer: what a transport provides, and what it calls."""

from __future__ import annotations

from typing import Protocol


class Receiver(Protocol):
    """Receives what the peer sends."""

    def received(self, chunk: bytes) -> None:
        """Called with the next bytes, which may be cut anywhere."""

    def ended(self) -> None:
        """Called once when no more bytes will come, also when the wire broke."""


class Wire(Protocol):
    """A stream of bytes to a peer, and one back."""

    @property
    def waiting(self) -> int:
        """How many bytes are not sent yet."""
        ...

    def start(self, receiver: Receiver) -> None:
        """Passes incoming bytes to `receiver` from now on, on the running loop."""

    def write(self, data: bytes) -> None:
        """Sends whole messages in order, without waiting; does nothing once the peer is gone."""

    async def drain(self) -> None:
        """Returns when fewer than `Limits.outgoing_bytes` wait, or when the peer is gone."""

    async def close(self) -> None:
        """Sends what waits, then ends the stream, and returns when that is done. Idempotent."""
