"""What a transport of byte streams is to those who use it: bytes come by call, bytes go by call."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Receiver", "Wire"]


class Receiver(Protocol):
    """Who takes what the peer sends."""

    def received(self, chunk: bytes) -> None:
        """The next bytes, cut anywhere."""

    def ended(self) -> None:
        """No more bytes will come. Called once, also when the wire broke."""


class Wire(Protocol):
    """A stream of bytes to a peer and one back."""

    def start(self, receiver: Receiver) -> None:
        """Bytes that come are given to `receiver` from now on, on the running loop."""

    def write(self, data: bytes) -> None:
        """Sends whole messages, in order; never waits. After the peer is gone it does nothing."""

    async def drain(self) -> None:
        """Returns when less than `Limits.outgoing_bytes` wait, or when the peer is gone."""

    async def close(self) -> None:
        """Sends what waits, then ends the stream; returns when it is over. May be called again."""
