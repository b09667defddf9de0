"""The interface of a byte stream to a peer: methods of a transport, and its callbacks."""

from __future__ import annotations

from typing import Protocol


class Receiver(Protocol):
    """Receives the bytes of the peer."""

    def received(self, chunk: bytes) -> None:
        """Called with the next bytes, which may be cut anywhere."""

    def ended(self) -> None:
        """Called once when no more bytes will come, also when the wire broke."""


class Wire(Protocol):
    """A stream of bytes to a peer, and one back."""

    @property
    def waiting(self) -> int:
        """The number of unsent bytes."""
        ...

    def start(self, receiver: Receiver) -> None:
        """Pass incoming bytes to `receiver` from now on, on the running loop."""

    def write(self, data: bytes) -> None:
        """Send whole messages in order, without waiting; do nothing once the peer is gone."""

    async def drain(self) -> None:
        """Wait until fewer than `Limits.outgoing_bytes` are unsent, or the peer is gone."""

    async def close(self) -> None:
        """Send waiting bytes, then end the stream, and return when it has ended. Idempotent."""
