"""The server's side of a stream of lines, such as standard input and output."""

from __future__ import annotations

import asyncio

from mcp_runtime.server.connection import ServerConnection
from mcp_runtime.shared.connection import WireConnection
from mcp_runtime.transports.wire import Wire

__all__ = ["ServerWireConnection"]


class ServerWireConnection(ServerConnection, WireConnection):
    """One client on a stream of lines."""

    async def serve(self, wire: Wire) -> None:
        """Serves until the client is gone; requests still running then are cancelled."""
        self.server.connections.add(self)
        self.ping_every = self.server.ping_every
        self.attach(wire)
        try:
            await asyncio.shield(self.over)
            await self.finished()
        finally:
            self.server.connections.discard(self)
            if not self.over.done():
                self.close_gracefully()
            await wire.close()

    def close_gracefully(self) -> None:
        super().close_gracefully()
        self.ended()
