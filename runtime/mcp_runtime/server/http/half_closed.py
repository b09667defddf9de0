"""A client that closes its side of a connection behind its request, as `nc -N` does, is answered.

It cannot be told from one that has gone altogether, so it has a short time; uvicorn gives it none.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

if TYPE_CHECKING:

    class _Base(asyncio.Protocol):
        """What is used of uvicorn's protocols, which have no type in common."""

        cycle: Any
        loop: asyncio.AbstractEventLoop
        scheme: str
        transport: asyncio.Transport

else:
    _Base = AutoHTTPProtocol


def half_closing(seconds: float) -> type[asyncio.Protocol]:
    """A protocol of uvicorn whose client has `seconds` for its answer when it has closed its side.

    Then the request ends as that of a client that is gone. A body that is not whole, and TLS, which
    has no such state, end at once.
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
