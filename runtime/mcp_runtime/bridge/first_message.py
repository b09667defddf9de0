"""A wire whose first message is read early: the servers behind a bridge start with its terms.

A server is told the capabilities of the client it is for. On a stream there is one client, so its
first message has them, and each server is started once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field, json

from mcp_runtime.core.wire.jsonrpc import UNREADABLE
from mcp_runtime.errors import Disconnected
from mcp_runtime.transports.wire import Receiver, Wire


class _RequestMeta(Struct):
    capabilities: dict[str, Any] = field(
        default_factory=dict[str, Any], name="io.modelcontextprotocol/clientCapabilities"
    )


class _Params(Struct):
    capabilities: dict[str, Any] | None = None
    meta: _RequestMeta = field(default_factory=_RequestMeta, name="_meta")


class _Message(Struct):
    params: _Params = field(default_factory=_Params)


_decode: Final = json.Decoder(_Message).decode


class FirstMessage:
    """Reads the first line of a wire, at most `limit` bytes, and then hands everything on."""

    def __init__(self, wire: Wire, limit: int) -> None:
        self._wire = wire
        self._limit = limit
        self._early = bytearray()
        self._receiver: Receiver | None = None
        self._is_over = False
        self._read = asyncio.Event()
        self.drain, self.close, self.write = wire.drain, wire.close, wire.write

    @property
    def waiting(self) -> int:
        return self._wire.waiting

    async def capabilities(self) -> Mapping[str, Any]:
        """Wait for the first message; return the capabilities it declares, empty for none.

        Raises Disconnected if the client goes without a message.
        """
        self._wire.start(self)
        await self._read.wait()
        if not self._early:
            raise Disconnected("the client has gone without a message")
        try:
            params = _decode(self._early.partition(b"\n")[0]).params
        except UNREADABLE:
            return {}
        return params.meta.capabilities if params.capabilities is None else params.capabilities

    def start(self, receiver: Receiver) -> None:
        """Hand the bytes read early to the receiver in the next iteration, then all others."""
        asyncio.get_running_loop().call_soon(self._hand_on, receiver)

    def _hand_on(self, receiver: Receiver) -> None:
        self._receiver = receiver
        early, self._early = bytes(self._early), bytearray()
        if early:
            receiver.received(early)
        if self._is_over:
            receiver.ended()

    def received(self, chunk: bytes) -> None:
        if self._receiver is not None:
            self._receiver.received(chunk)
            return
        self._early += chunk
        if b"\n" in self._early or len(self._early) > self._limit:
            self._read.set()

    def ended(self) -> None:
        self._is_over = True
        self._read.set()
        if self._receiver is not None:
            self._receiver.ended()
