"""An in-memory wire: two sides in one process, each of which receives the bytes of the other."""

from __future__ import annotations

import asyncio

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.transports.wire import Receiver, Wire


def pair(limits: Limits = DEFAULT) -> tuple[Wire, Wire]:
    """Make two connected wires. Bytes arrive in the next iteration of the loop."""
    one, other = _Side(limits), _Side(limits)
    one.peer, other.peer = other, one
    return one, other


class _Side:
    peer: _Side

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.outgoing_bytes
        self._queue: list[bytes] = []
        self.waiting = 0
        self._room = asyncio.Event()
        self._room.set()
        self._receiver: Receiver | None = None
        self._moving = False
        self._over = False

    def start(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self.peer.move()
        if self._over:
            asyncio.get_running_loop().call_soon(self._end)

    def write(self, data: bytes) -> None:
        if self._over:
            return
        self._queue.append(data)
        self.waiting += len(data)
        if self.waiting >= self._limit:
            self._room.clear()
        self.move()

    def move(self) -> None:
        """Schedule the delivery of waiting bytes for the next iteration of the loop."""
        if self._queue and not self._moving and self.peer._receiver is not None:
            self._moving = True
            asyncio.get_running_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        self._moving = False
        receiver = self.peer._receiver
        if receiver is not None:
            data, self._queue, self.waiting = b"".join(self._queue), [], 0
            self._room.set()
            receiver.received(data)

    async def drain(self) -> None:
        await self._room.wait()

    async def close(self) -> None:
        try:
            await asyncio.sleep(0)  # delivers what was written before
        finally:
            self.peer._end()
            self._end()

    def _end(self) -> None:
        self._over = True
        self._room.set()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.ended()
