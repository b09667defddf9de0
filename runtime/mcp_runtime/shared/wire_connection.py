"""A connection over a stream of lines, which may ask the peer from time to time if it is there."""

from __future__ import annotations

import asyncio
from typing import Final

from mcp_runtime.core.events import Opened
from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.pending import Timeout
from mcp_runtime.errors import Disconnected, NotOpen, SessionError
from mcp_runtime.revisions import UNSET
from mcp_runtime.shared.connection import Connection, log
from mcp_runtime.transports.wire import Wire

__all__ = ["WireConnection"]

_NEWLINE: Final = b"\n"


class WireConnection(Connection):
    """A connection over a stream of lines."""

    wire: Wire
    over: asyncio.Future[None]
    """Done when the peer is gone."""
    _pinging: asyncio.Task[None] | None = None

    def attach(self, wire: Wire) -> None:
        self.wire, self.over = wire, self.loop.create_future()
        wire.start(self)

    def received(self, chunk: bytes) -> None:
        self.handle(self.session.receive(chunk, self.loop.time()))

    def _on_opened(self, event: Opened) -> None:
        super()._on_opened(event)
        self._stop_pinging()
        if self.ping_every is not None and "ping" in event.terms.translation.revision.methods:
            self._pinging = self.loop.create_task(self._ping(self.ping_every))

    async def _ping(self, every: float) -> None:
        """Ends the connection if a ping has no answer. Source: 2025-11-25 basic/utilities/ping."""
        timeout = Timeout(min(every, self.session.limits.deadline))
        try:
            while True:
                await asyncio.sleep(every)
                await self.request("ping", UNSET, timeout=timeout)
        except (Disconnected, NotOpen):
            log.debug("no more pings: the session has ended")
        except SessionError as error:
            log.warning("the peer does not answer a ping: %s", error)
            self.spawn(self.wire.close())
            self.ended()

    def _stop_pinging(self) -> None:
        if self._pinging is not None:
            self._pinging.cancel()

    def end(self, why: str = "the peer is gone") -> None:
        self._stop_pinging()
        super().end(why)

    def ended(self) -> None:
        self.end()
        if not self.over.done():
            self.over.set_result(None)

    def _write(self, data: bytes, about: Id | None) -> None:
        self.wire.write(data + _NEWLINE)

    async def drain(self) -> None:
        await self.wire.drain()
