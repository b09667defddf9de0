"""TCP connections between the coroutines of one event loop, without a socket.

What is written is there for the other end at once, in the order of the writes, so a loop with
virtual time knows when nothing is on its way. As with TCP, an end that does not read holds up the
one that writes, and what is written to a closed end breaks the connection.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from asyncio.transports import _FlowControlMixin  # type: ignore[attr-defined]
from collections.abc import Callable
from itertools import count
from typing import Any, Final

__all__ = ["MemoryNetwork"]

BUFFER: Final = 1 << 18
"""Bytes on their way to an end that does not read."""
HOST: Final = "127.0.0.1"

Factory = Callable[[], asyncio.BaseProtocol]


class MemoryNetwork:
    """The listeners of one event loop, and the ports that were ever theirs."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._ports = count(50_000)
        self.listeners: dict[int, Listener | None] = {}
        self._pairs: list[socket.socket] = []

    def listen(self, factory: Factory, port: int) -> Listener:
        """Open a port: a new one for 0. Raises OSError if it is open."""
        port = port or next(self._ports)
        if self.listeners.get(port) is not None:
            raise OSError(errno.EADDRINUSE, f"address {HOST}:{port} already in use")
        listener = self.listeners[port] = Listener(self, factory, port)
        return listener

    async def connect(self, factory: Factory, port: int) -> tuple[End, Any]:
        """Raises ConnectionRefusedError if nobody listens any more."""
        await asyncio.sleep(0)
        if (listener := self.listeners[port]) is None:
            text = f"Connect call failed {(HOST, port)}"
            raise ConnectionRefusedError(errno.ECONNREFUSED, text)
        here, there = (HOST, next(self._ports)), (HOST, port)
        ours, theirs = End(self, here, there), End(self, there, here)
        ours.other, theirs.other = theirs, ours
        theirs.begin(listener.factory())
        ours.begin(protocol := factory())
        return ours, protocol

    def descriptor(self, *, is_readable: bool) -> int:
        """A descriptor for `poll`, which says whether an end has something to read."""
        if not self._pairs:
            silent, kept = socket.socketpair()
            readable, closed = socket.socketpair()
            closed.close()
            self._pairs = [silent, readable, kept]
        return self._pairs[is_readable].fileno()

    def close(self) -> None:
        for each in self._pairs:
            each.close()


class Listener(asyncio.AbstractServer):
    """What `loop.create_server` returns."""

    def __init__(self, network: MemoryNetwork, factory: Factory, port: int) -> None:
        self._network, self.factory, self._port = network, factory, port
        self.sockets = (self,)

    def getsockname(self) -> tuple[str, int]:
        return HOST, self._port

    def close(self) -> None:
        if self._network.listeners[self._port] is self:
            self._network.listeners[self._port] = None
        self.sockets = ()  # type: ignore[assignment]

    def is_serving(self) -> bool:
        return self._network.listeners[self._port] is self

    async def wait_closed(self) -> None:
        await asyncio.sleep(0)


class End(_FlowControlMixin):  # type: ignore[misc]
    """One end of a connection: a transport, and the socket that it says it has."""

    other: End

    def __init__(self, network: MemoryNetwork, here: Any, there: Any) -> None:
        extra = {"socket": self, "sockname": here, "peername": there}
        super().__init__(extra, network._loop)
        self._network = network
        self._unsent, self._unread = bytearray(), bytearray()
        self._is_paused = self._is_closing = self._has_ended = False
        self._hears_end = self._was_notified = False
        """Whether the other end has said that nothing more comes, and the protocol knows."""
        self._is_over = False
        self._failure: ConnectionError | None = None

    def begin(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol: Any = protocol
        protocol.connection_made(self)

    # ---- what is asked of a socket

    def fileno(self) -> int:
        """Also once it is over: readable then."""
        has_news = bool(self._unread) or self._hears_end or self._is_over
        return self._network.descriptor(is_readable=has_news)

    family = socket.AF_INET

    def getsockname(self) -> Any:
        return self.get_extra_info("sockname")

    def getpeername(self) -> Any:
        return self.get_extra_info("peername")

    def setsockopt(self, *option: Any) -> None:
        """Nothing here has options."""

    # ---- what is asked of a transport

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    def is_closing(self) -> bool:
        return self._is_closing

    def is_reading(self) -> bool:
        return not self._is_paused and not self._is_closing

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._soon(self._read)

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def can_write_eof(self) -> bool:
        return True

    def write(self, data: Any) -> None:
        if self._has_ended:
            raise RuntimeError("Cannot call write() after write_eof()")
        if self._is_over or not data:
            return
        self._unsent += data
        self._send()
        self._maybe_pause_protocol()

    def write_eof(self) -> None:
        self._has_ended = True
        self._send()

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = self._has_ended = True
            self._send()
            if not self._unsent:
                self._soon(self._end)

    def abort(self) -> None:
        self._unsent.clear()
        self._is_closing = self._has_ended = True
        self._soon(self._end)

    # ---- what happens then

    def _soon(self, act: Callable[[], None]) -> None:
        self._loop.call_soon(act)

    def _send(self) -> None:
        """Bring to the other end what it has room for."""
        room = max(0, BUFFER - len(self.other._unread))
        if self._unsent and self.other._is_over:
            self._break()
            return
        self.other._unread += self._unsent[:room]
        del self._unsent[:room]
        self._maybe_resume_protocol()
        if self._has_ended and not self._unsent:
            self.other._hears_end = True
        self._soon(self.other._read)
        if self._is_closing and not self._unsent:
            self._soon(self._end)

    def _read(self) -> None:
        if self._is_over or self._is_paused or self._is_closing:
            return
        if self._unread:
            data = bytes(self._unread)
            self._unread.clear()
            self.other._send()
            self._protocol.data_received(data)
            self._soon(self._read)
        elif self._failure is not None:
            self._break()
        elif self._hears_end and not self._was_notified:
            self._was_notified = True
            if not self._protocol.eof_received():
                self.close()

    def reset(self) -> None:
        """The other end is gone, and has not read everything: what it sent before can be read."""
        self._failure = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        self._soon(self._read)

    def _break(self) -> None:
        self._failure = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        self._unread.clear()
        self.abort()

    def _end(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        if self._unread and not self.other._is_over:
            self.other.reset()
        self.other._hears_end = True
        self._soon(self.other._read)
        self._protocol.connection_lost(self._failure)
