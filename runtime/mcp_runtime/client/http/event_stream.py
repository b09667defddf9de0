"""A stream of server-sent events, resumed over another GET where its connection breaks.

Source: 2025-11-25 basic/transports, "Resumability and Redelivery"; 2024-11-05 basic/transports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from mcp_runtime.client.http.backoff import Backoff
from mcp_runtime.client.http.http import HttpResponse
from mcp_runtime.core.http.http_rules import EVENT_STREAM
from mcp_runtime.core.wire.lines import TooLong
from mcp_runtime.core.wire.sse import Events
from mcp_runtime.errors import BadStatus, Disconnected, NotReached, Unauthorized
from mcp_runtime.limits import Limits

Get: TypeAlias = Callable[[Mapping[str, str]], AbstractAsyncContextManager[HttpResponse]]
"""Sends a GET with these headers, beside the headers of every GET."""
STREAM: Final = {"Accept": EVENT_STREAM, "Cache-Control": "no-store"}
"""The headers of a GET."""
Receive: TypeAlias = Callable[[bytes | TooLong], Awaitable[None]]
"""Handles a message, or a mark for a message that is too long; the next one waits for it."""
ANY_ERA: Final = frozenset({401, 403, 407, 408, 421, 425, 429, 502, 503, 504})
"""Statuses that tell nothing about the server's revisions, nor about a stream."""
_BUSY: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses of a server that may answer if the same request is repeated."""
_LATER: Final = ANY_ERA | _BUSY
"""Statuses of a server that may continue a stream if asked again."""


@dataclass(eq=False)
class EventStream:
    """One stream, over as many connections as it takes; `receive` gets its messages."""

    get: Get
    receive: Receive
    limits: Limits
    backoff: Backoff
    is_open: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a GET has opened it."""
    lost_session: bool = False
    """True if the server refused the last GET because it does not know the session."""
    _last_id: str = ""
    _retry: int | None = None

    async def follow(
        self, response: HttpResponse, is_answered: Callable[[], bool], *, resumes: bool
    ) -> None:
        """Read the response to a request until the request is answered; resume the stream if
        `resumes`.

        A caller waits, so the answer is given up as soon as the server cannot be reached. A server
        within reach that does not answer yet, as behind a proxy, gets time to come back. Raises
        Disconnected.
        """
        await self._read(response, is_answered)
        while not is_answered():
            if not (resumes and self._last_id):
                raise Disconnected("the stream has ended before the answer")
            await self._pause(soon=not self.is_open.is_set())
            try:
                await self._resume(is_answered)
            except BadStatus as error:
                raise Disconnected(f"the stream is lost, {error}") from error

    async def listen(self) -> None:
        """Read as long as the stream can be resumed. Raises BadStatus, Disconnected."""
        now = asyncio.get_running_loop().time
        while True:
            started = now()
            await self._resume()
            self.backoff.note_lifetime(now() - started)
            await self._pause()

    async def _pause(self, *, soon: bool = False) -> None:
        """Wait at least as long as the server asked. Raises as `Backoff.pause` does."""
        asked = self._retry is not None
        await self.backoff.pause(least=(self._retry or 0) / 1000, soon=soon or asked)

    async def _resume(self, is_answered: Callable[[], bool] | None = None) -> None:
        """Read one more connection to its end, if it can be made.

        Raises BadStatus if the server has no such stream, and NotReached if a caller waits for an
        answer.
        """
        after = {"Last-Event-ID": self._last_id} if self._last_id else {}
        try:
            async with self.get(after) as response:
                if response.status in _LATER and self.backoff.failures:
                    return
                self.lost_session = await response.lost_session()
                require_stream(response)
                self.is_open.set()
                if is_answered is not None:
                    self.backoff.failures = 0
                await self._read(response, is_answered)
        except NotReached:
            if is_answered is not None:
                raise
        except Disconnected:
            pass

    async def _read(self, response: HttpResponse, is_answered: Callable[[], bool] | None) -> None:
        """Receive the messages of one connection, to its end or its break.

        Once the request is answered, the stream has little time to end.
        """
        events, now = Events(self.limits.answer_bytes), asyncio.get_running_loop().time
        with suppress(Disconnected, TimeoutError):
            async with asyncio.timeout(None) as bound:
                async for chunk in response.chunks():
                    for event in events.feed(chunk):
                        self.backoff.failures = 0
                        if isinstance(event, TooLong):
                            await self.receive(event)
                        elif event.name == "message" and event.data:
                            await self.receive(event.data)
                    self._last_id = events.id or self._last_id
                    self._retry = self._retry if events.retry is None else events.retry
                    if is_answered is not None and is_answered() and bound.when() is None:
                        bound.reschedule(now() + self.limits.close_wait)


def may_pass(error: BaseException | None) -> bool:
    """Return True if a stream ended for a reason that may be gone at the next attempt."""
    is_busy = isinstance(error, BadStatus) and error.status in _BUSY
    return is_busy or isinstance(error, Disconnected)


def require_stream(response: HttpResponse) -> None:
    """Raise BadStatus unless the response to a GET is a stream of events."""
    if response.status == 401:
        raise Unauthorized("GET", refused=response.had_token)
    if not response.ok or response.kind != EVENT_STREAM:
        raise response.error("GET")
