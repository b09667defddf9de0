"""Broadcasts list and resource changes to connected clients, and over a bus to other processes."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

import msgspec

from mcp_runtime.core.subscriptions import LISTS
from mcp_runtime.stores import Bus

__all__ = ["ChangeBroadcaster", "ChangeListener", "Notice"]

log: Final = logging.getLogger("mcp_runtime")

_TOPIC: Final = "changes"


class ChangeListener(Protocol):
    """A connection whose client may have asked to be notified of changes."""

    def notify_changed(self, what: str, /) -> None:
        """Notifies the client that the list of `tools`, `prompts` or `resources` has changed."""
        ...

    def notify_updated(self, uri: str, /) -> None:
        """Notifies the client that a resource has changed."""
        ...

    def notify_published(self, notice: Notice, /) -> None:
        """Sends the client a notification of an extension, if it subscribed to that."""
        ...


class Notice(msgspec.Struct, frozen=True):
    """A notification of an extension, to subscribers that have `value` in `member` of their filter.

    `params` is parsed JSON. Only clients that act for `principal` get it, unless that is None.
    """

    method: str
    params: dict[str, Any]
    member: str
    value: str
    principal: str | None = None


class _Change(msgspec.Struct, omit_defaults=True):
    """A message on the bus: the name of a changed list, the URI of a changed resource, a notice."""

    sender: str
    list: str = ""
    uri: str = ""
    notice: Notice | None = None


_change: Final = msgspec.json.Decoder(_Change)


class ChangeBroadcaster:
    """The changes of one server. A change that arrives on the bus is not published again."""

    def __init__(self) -> None:
        self.connections: Final[set[ChangeListener]] = set()
        self._bus: Bus | None = None
        self._name: Final = secrets.token_hex(8)

    def changed(self, what: str) -> None:
        """Reports that the list of `tools`, `prompts` or `resources` has changed."""
        self._broadcast(_Change(self._name, list=what))

    def updated(self, uri: str) -> None:
        """Reports that a resource has changed."""
        self._broadcast(_Change(self._name, uri=uri))

    def published(self, notice: Notice) -> None:
        """Sends a notification of an extension to those who subscribed to it."""
        self._broadcast(_Change(self._name, notice=notice))

    @asynccontextmanager
    async def shared(self, bus: Bus) -> AsyncGenerator[None]:
        """While entered, the clients of all processes on this bus are notified of changes."""
        async with bus.subscribed(_TOPIC, self._receive):
            self._bus = bus
            try:
                yield
            finally:
                self._bus = None

    def _broadcast(self, change: _Change) -> None:
        self._notify_clients(change)
        if self._bus is not None:
            self._bus.publish(_TOPIC, msgspec.json.encode(change))

    def _receive(self, message: bytes) -> None:
        try:
            change = _change.decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            log.warning("ignored a message on the bus that is no change: %r", message[:80])
            return
        if change.sender != self._name:
            self._notify_clients(change)

    def _notify_clients(self, change: _Change) -> None:
        for connection in [*self.connections]:
            if change.list in LISTS:
                connection.notify_changed(change.list)
            elif change.uri:
                connection.notify_updated(change.uri)
            elif change.notice:
                connection.notify_published(change.notice)
