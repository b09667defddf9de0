"""The one stream of HTTP+SSE: it names where messages are posted, and carries all answers.

Source: 2024-11-05 basic/transports, "HTTP with SSE".
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp_runtime.client.http.event_stream import STREAM, Receive, require_stream
from mcp_runtime.client.http.http import HttpSender
from mcp_runtime.core.wire.lines import TooLong
from mcp_runtime.core.wire.sse import Events
from mcp_runtime.errors import Disconnected, SessionError
from mcp_runtime.limits import Limits

if TYPE_CHECKING:
    import httpx2


@dataclass(eq=False)
class LegacySse:
    """The stream of one connection; `endpoint`, which the server names, is for messages to it."""

    http: HttpSender
    receive: Receive
    limits: Limits
    endpoint: asyncio.Future[httpx2.URL] = field(default_factory=asyncio.Future)
    is_named: bool = False

    async def listen(self) -> str:
        """Read the stream to its end, and return the reason of the end."""
        why = "the stream has ended"
        error: SessionError = Disconnected("the stream has named no endpoint")
        try:
            await self._read()
        except SessionError as caught:
            why, error = str(caught), caught
        finally:
            if not self.endpoint.done():
                self.endpoint.set_exception(error)
        return why

    async def _read(self) -> None:
        async with self.http.send("GET", self.http.url, STREAM) as response:
            require_stream(response)
            events = Events(self.limits.answer_bytes)
            async for chunk in response.chunks():
                for event in events.feed(chunk):
                    if isinstance(event, TooLong):
                        await self.receive(event)
                    elif event.name == "endpoint" and not self.endpoint.done():
                        reference = event.data.decode(errors="replace")
                        self.endpoint.set_result(response.within(reference))
                        self.is_named = True
                    elif event.name == "message" and self.is_named:
                        await self.receive(event.data)
