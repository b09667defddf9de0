"""Who is told of changes: everyone who is connected here, and over a bus everyone elsewhere."""

from __future__ import annotations

import logging
import secrets
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Final

import msgspec

from mcp_runtime.core.subscriptions import LISTS
from mcp_runtime.stores import Bus

if TYPE_CHECKING:
    from mcp_runtime.server.connection import ServerConnection

__all__ = ["ChangeBroadcaster"]

log: Final = logging.getLogger("mcp_runtime")


class _Told(msgspec.Struct, omit_defaults=True):
    """What goes over the bus: a list that has changed, or the URI of a resource that has."""

    sender: str
    list: str = ""
    uri: str = ""


_told: Final = msgspec.json.Decoder(_Told)


class ChangeBroadcaster:
    """Of one server. What came from others over the bus is told here, and not sent on."""

    def __init__(self, bus: Bus | None) -> None:
        self.connections: Final[set[ServerConnection]] = set()
        self.bus: Final = bus
        self._name: Final = secrets.token_hex(8)

    def changed(self, what: str) -> None:
        """The list of `tools`, `prompts` or `resources`."""
        self._tell(_Told(self._name, list=what))

    def updated(self, uri: str) -> None:
        """A resource."""
        self._tell(_Told(self._name, uri=uri))

    def hearing(self) -> AbstractAsyncContextManager[object]:
        """While it is entered, what others tell is told here too."""
        return nullcontext() if self.bus is None else self.bus.subscribed(self._hear)

    def _tell(self, told: _Told) -> None:
        self._here(told)
        if self.bus is not None:
            self.bus.publish(msgspec.json.encode(told))

    def _hear(self, message: bytes) -> None:
        try:
            told = _told.decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError):
            log.warning("the bus brought what is no change: %r", message[:80])
            return
        if told.sender != self._name:
            self._here(told)

    def _here(self, told: _Told) -> None:
        for connection in [*self.connections]:
            if told.list in LISTS:
                connection.tell_changed(told.list)
            elif told.uri:
                connection.tell_updated(told.uri)
