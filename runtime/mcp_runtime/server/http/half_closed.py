"""Answers clients that close their sending side behind a request, as `nc -N` does.

Such a client looks like a client that is gone. It therefore has a short time; uvicorn gives it
none.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:

    class _Base(asyncio.Protocol):
        """The common members of uvicorn's protocols, which share no type."""

        cycle: Any
        loop: asyncio.AbstractEventLoop
        scheme: str
        transport: asyncio.Transport

else:
    _Base = AutoHTTPProtocol


def half_closing(seconds: float) -> type[asyncio.Protocol]:
    """Return a protocol of uvicorn whose client, with its sending side closed, has `seconds` to get
    its answer.

    After this time the client counts as gone. An incomplete body ends at once, and so does TLS,
    which has no half-closed state.
    """

    class HalfClosing(_Base):
        def eof_received(self) -> bool:
            cycle = self.cycle
            if cycle is None or cycle.response_complete:
                return False
            if cycle.more_body or self.scheme == "https":
                return False
            if not getattr(self, "pipeline", None):  # of httptools
                cycle.keep_alive = False
            self.loop.call_later(seconds, self.transport.close)
            return True

    return HalfClosing
