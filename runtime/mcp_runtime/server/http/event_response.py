"""A response that is an event stream: it sends messages as they come, until the client is gone.

Source: 2025-11-25 basic/transports, "Sending Messages to the Server".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final, Protocol

from mcp_runtime.core import sse
from mcp_runtime.server.http.outbox import Outbox
from mcp_runtime.server.http.request import HttpRequest
from mcp_runtime.stores import StoreUnavailable

__all__ = ["EventResponse", "StreamSession"]

log: Final = logging.getLogger("mcp_runtime.http")

_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
_COMMENT: Final = b":\n\n"
_AT_ONCE: Final = 64 * 1024
"""Bytes of events that are enough for one part of a response."""


class StreamSession(Protocol):
    """The session that a stream belongs to."""

    async def events(self, stream: Outbox, messages: Sequence[bytes]) -> bytes:
        """The events for messages that were taken from the stream; an empty one primes it."""
        ...

    def response_ended(self, stream: Outbox) -> None:
        """Called at the end of the response; another response may go on with the stream."""
        ...


class EventResponse:
    """Sends the events in `first`, then a stream; a comment after `keep_alive` seconds of silence.

    A task sends what waits, and ends; an idle response has no task and only waits for the client to
    leave. A response that `primes` begins with an event without data, whose id it can be resumed
    from.
    """

    __slots__ = (
        "_first",
        "_keep_alive",
        "_last_sent",
        "_loop",
        "_primes",
        "_reader",
        "_request",
        "_session",
        "_stream",
        "_task",
        "_timer",
        "_waiting",
    )

    def __init__(
        self,
        request: HttpRequest,
        session: StreamSession,
        stream: Outbox,
        reader: int,
        *,
        keep_alive: float,
        first: Iterable[bytes] = (),
        primes: bool = False,
    ) -> None:
        self._request: Final = request
        self._session: Final = session
        self._stream: Final = stream
        self._reader: Final = reader
        self._keep_alive: Final = keep_alive
        self._first = first
        self._primes = primes
        self._loop: Final = asyncio.get_running_loop()
        self._last_sent = self._loop.time()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Timeout | None = None
        """The wait for the client to leave."""

    async def run(self) -> None:
        """Runs until the stream has no more for its reader, or the client is gone.

        Raises ClientGone, and what `StreamSession.events` raises.
        """
        try:
            await self._until_gone()
            self._detach()
            if self._task is not None:
                await asyncio.wait({self._task})
                self._task.result()
        except asyncio.CancelledError:
            self._detach()
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait({self._task})
            raise
        finally:  # each message that was taken has been sent, stored, or put back
            self._session.response_ended(self._stream)

    async def _until_gone(self) -> None:
        with suppress(TimeoutError):  # everything is sent
            async with asyncio.timeout(None) as self._waiting:
                self._start()
                await self._request.gone()

    def _detach(self) -> None:
        self._waiting = None
        self._stream.leave(self._reader)
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        self._request.free_headers()
        self._stream.listen(self._reader, self._wake)
        self._task = self._loop.create_task(self._send_waiting(begins=True))
        self._timer = self._loop.call_later(self._keep_alive, self._tick)

    # ---- sending

    def _wake(self) -> None:
        """Called when there may be something to send."""
        if self._task is None:
            self._task = self._loop.create_task(self._send_waiting())

    def _tick(self) -> None:
        due, now = self._last_sent + self._keep_alive, self._loop.time()
        if due <= now and self._task is None:
            self._task = self._loop.create_task(self._send_waiting(comment=True))
        self._timer = self._loop.call_at(due if due > now else now + self._keep_alive, self._tick)

    async def _send_waiting(self, *, begins: bool = False, comment: bool = False) -> None:
        """Sends what waits; ends the response if nothing more can come."""
        try:
            if begins:
                await self._begin()
            elif comment:
                await self._send(_COMMENT)
            while events := await self._next_events():
                await self._send(events)
                if len(events) >= _AT_ONCE:
                    await asyncio.sleep(0)  # by then a connection that broke is known to have
            if self._stream.has_more(self._reader):
                self._task = None
                return
            await self._finish()
        except StoreUnavailable as error:  # the message waits; the client asks for it again
            log.warning("an event stream ends early: %s", error)
            await self._request.end()
        except BaseException:
            self._stop()
            raise
        self._stop()

    async def _next_events(self) -> bytes:
        """What waits, up to a size; it was stored, if the session stores its messages."""
        primes, self._primes = self._primes, False
        messages, size = [b""] if primes and self._stream.reader == self._reader else [], 0
        while size < _AT_ONCE and (data := self._stream.pop(self._reader)) is not None:
            messages.append(data)
            size += len(data)
        return await self._session.events(self._stream, messages) if messages else b""

    async def _begin(self) -> None:
        await self._request.start(200, _HEADERS)
        for event in self._first:
            await self._send(event)
        self._first = ()

    async def _send(self, event: bytes) -> None:
        await self._request.send_part(event)
        self._last_sent = self._loop.time()

    async def _finish(self) -> None:
        if (retry := self._stream.pop_retry(self._reader)) is not None:
            await self._request.send_part(sse.encode(sse.Event(retry=retry)))
        await self._request.end()

    def _stop(self) -> None:
        """Ends the wait for the client to leave."""
        if self._waiting is not None:
            self._waiting.reschedule(0)
