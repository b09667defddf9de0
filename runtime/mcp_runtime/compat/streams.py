"""The pair of streams of a transport of `mcp` 1.x: here a handle of the native transport."""

from __future__ import annotations

from abc import ABC, abstractmethod

from mcp_runtime.compat.native import NativeServer
from mcp_runtime.transports.wire import Wire


class Stream(ABC):
    """A transport whose client waits to be served; a server runs on it once."""

    @abstractmethod
    async def serve(self, native: NativeServer) -> None:
        """Serve the client until it is gone."""


class WireStream(Stream):
    """A client on a wire."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    async def serve(self, native: NativeServer) -> None:
        async with native.running():
            await native.serve(self.wire, grace=native.limits.eof_wait)
