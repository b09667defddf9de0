"""Broadcasts list and resource changes to connected clients, and over a bus to other processes."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, Protocol

import msgspec

from mcp_runtime.core.session.subscriptions import Change
from mcp_runtime.shared.threads import running_loop
from mcp_runtime.stores import Bus

log: Final = logging.getLogger("mcp_runtime")

_TOPIC: Final = "changes"


class ChangeListener(Protocol):
    """A connection whose client may have asked to be notified of changes."""

    loop: asyncio.AbstractEventLoop

    def notify_change(self, change: Change, /) -> None:
        """Notify the client of a change it subscribed to."""
        ...

    def watches(self, uri: str, /) -> bool:
        """Return True if the client has subscribed to a resource."""
        ...


_change: Final = msgspec.json.Decoder(Change)


class ChangeBroadcaster:
    """The changes of one server. Changes received from the bus are not published again."""

    def __init__(self) -> None:
        self.connections: Final[set[ChangeListener]] = set()
        self._bus: Bus | None = None
        self._bus_loop: asyncio.AbstractEventLoop | None = None
        self._name = ""
        """The name of this process on the bus. It is drawn at `share`, since a process may fork
        after it made the server.
        """

    def broadcast(self, change: Change) -> None:
        """Notify the clients of this process, and of those on the bus, of a change.

        A plain function, which runs in a thread, has it done on the event loop.
        """
        if running_loop() is not None:
            self._broadcast(change)
            return
        loop = next((each.loop for each in [*self.connections]), self._bus_loop)
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._broadcast, change)

    def _broadcast(self, change: Change) -> None:
        self._notify_clients(change)
        if self._bus is not None:
            change.sender = self._name
            self._bus.publish(_TOPIC, msgspec.json.encode(change))

    @asynccontextmanager
    async def share(self, bus: Bus) -> AsyncGenerator[None]:
        """Notify the clients of all processes on `bus` of changes, as long as the context is
        entered.
        """
        self._name = secrets.token_hex(8)
        async with bus.subscribed(_TOPIC, self._receive):
            self._bus, self._bus_loop = bus, asyncio.get_running_loop()
            try:
                yield
            finally:
                self._bus = self._bus_loop = None

    def _receive(self, message: bytes) -> None:
        try:
            change = _change.decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            log.warning("ignored a message on the bus that is not a change: %r", message[:80])
            return
        if change.sender != self._name:
            self._notify_clients(change)

    def _notify_clients(self, change: Change) -> None:
        here = running_loop()
        for connection in [*self.connections]:
            if connection.loop is here:
                connection.notify_change(change)
            elif not connection.loop.is_closed():  # of another thread
                connection.loop.call_soon_threadsafe(connection.notify_change, change)
