"""The one stream of HTTP+SSE, on which a server names where messages are posted, and answers all.

Source: 2024-11-05 basic/transports, "HTTP with SSE".
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_runtime.client.http.event_stream import STREAM, Take, require_stream
from mcp_runtime.client.http.http import HttpClient, HttpResponse
from mcp_runtime.core.sse import Event, Events
from mcp_runtime.errors import Disconnected, SessionError
from mcp_runtime.limits import Limits

if TYPE_CHECKING:
    import httpx2

__all__ = ["LegacySse"]


class LegacySse:
    """`endpoint` is where messages are posted, once the server has named it; `take` has its own."""

    def __init__(self, http: HttpClient, take: Take, limits: Limits) -> None:
        self.endpoint: asyncio.Future[httpx2.URL] = asyncio.get_running_loop().create_future()
        self.is_named = False
        self._http = http
        self._take = take
        self._limits = limits

    async def listen(self) -> str:
        """To its end; why it has ended."""
        why = "the stream has ended"
        try:
            await self._drink()
        except SessionError as error:
            why = str(error)
            if not self.endpoint.done():
                self.endpoint.set_exception(error)
        finally:
            if not self.endpoint.done():
                self.endpoint.set_exception(Disconnected("the stream has named no endpoint"))
        return why

    async def _drink(self) -> None:
        async with self._http.ask("GET", self._http.url, STREAM) as answer:
            require_stream(answer)
            events = Events(self._limits.line_bytes)
            async for chunk in answer.chunks():
                for event in events.feed(chunk):
                    await self._heed(event, answer)

    async def _heed(self, event: Event, answer: HttpResponse) -> None:
        if event.name == "endpoint" and not self.endpoint.done():
            self.endpoint.set_result(answer.within(event.data.decode(errors="replace")))
            self.is_named = True
        elif event.name == "message" and self.is_named:
            await self._take(event.data)
