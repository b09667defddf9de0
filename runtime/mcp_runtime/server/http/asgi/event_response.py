"""A response that is an event stream: it sends messages as they come, until the client is gone.

Source: 2025-11-25 basic/transports, "Sending Messages to the Server".
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

from mcp_runtime.core.wire import sse
from mcp_runtime.server.http.asgi.outbox import Outbox
from mcp_runtime.server.http.asgi.request import HttpRequest
from mcp_runtime.stores import StoreUnavailable

log: Final = logging.getLogger("mcp_runtime.http")

_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
COME_BACK: Final = 1000
"""Milliseconds after which a client is to reconnect to another process, or to this one anew."""
_COMMENT: Final = b":\n\n"
_AT_ONCE: Final = 64 * 1024
"""Bytes of events that are enough for one part of a response."""


class StreamSession(Protocol):
    """The session of a stream, as far as a response needs it."""

    async def events(self, stream: Outbox, messages: Sequence[bytes]) -> bytes:
        """Return the messages taken from the stream as events; without messages, an event without
        data, from which a client can resume.
        """
        ...

    def on_response_end(self, stream: Outbox) -> None:
        """Handle the end of the response; another response may continue the stream."""
        ...


@dataclass(slots=True, eq=False)
class EventResponse:
    """Sends the events in `first`, then a stream; a comment where it is silent for too long.

    The response ends when the stream's `until` is over; then the client is to reconnect.

    A task sends the waiting messages, and ends; an idle response has no task and only waits for the
    client to leave. If it `primes`, the response begins with an event without data, whose id lets
    the client resume it.
    """

    request: HttpRequest
    session: StreamSession
    stream: Outbox
    reader: int
    first: Iterable[bytes] = ()
    primes: bool = False
    _last_sent: float = 0.0
    _task: asyncio.Task[None] | None = None
    _timer: asyncio.TimerHandle | None = None
    _waiting: asyncio.Timeout | None = None
    """The wait for the client to leave."""
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    async def run(self) -> None:
        """Run until the stream has no more for its reader, or the client is gone.

        Raises ClientGone, and the exceptions of `StreamSession.events`.
        """
        try:
            await self._wait_until_gone()
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
            self.session.on_response_end(self.stream)

    async def _wait_until_gone(self) -> None:
        with suppress(TimeoutError):  # everything is sent
            async with asyncio.timeout(None) as self._waiting:
                self._start()
                await self.request.gone()

    def _detach(self) -> None:
        self._waiting = None
        self.stream.leave(self.reader)
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        self._last_sent = now = self._loop.time()
        self.request.headers.clear()  # the response may stay open for hours
        self.stream.listen(self.reader, self._wake)
        self._task = self._loop.create_task(self._send_waiting(begins=True))
        self._tick_at(now + self.stream.limits.keep_alive)

    def _tick_at(self, time: float) -> None:
        self._timer = self._loop.call_at(min(time, self.stream.until), self._tick)

    # ---- sending

    def _wake(self) -> None:
        """Start to send, as there may be new messages."""
        if self._task is None:
            self._task = self._loop.create_task(self._send_waiting())

    def _tick(self) -> None:
        wait, now = self.stream.limits.keep_alive, self._loop.time()
        due = self._last_sent + wait
        if now >= self.stream.until:
            self.stream.interrupt(COME_BACK)
            return
        if due <= now and self._task is None:
            self._task = self._loop.create_task(self._send_waiting(comment=True))
        self._tick_at(due if due > now else now + wait)

    async def _send_waiting(self, *, begins: bool = False, comment: bool = False) -> None:
        """Send the waiting messages; end the response if nothing more can come."""
        try:
            if begins:
                await self._begin()
            elif comment:
                await self._send(_COMMENT)
            while events := await self._next_events():
                await self._send(events)
                if len(events) >= _AT_ONCE:
                    await asyncio.sleep(0)  # by then a connection that broke is known to have
            if self.stream.has_more(self.reader):
                self._task = None
                return
            await self._finish()
        except StoreUnavailable as error:  # the message waits; the client asks for it again
            log.warning("an event stream ends early: %s", error)
            await self.request.end()
        except BaseException:
            self._stop()
            raise
        self._stop()

    async def _next_events(self) -> bytes:
        """Take waiting messages, up to a size, as events. They are stored first if the session
        stores its messages.
        """
        primes, self.primes = self.primes, False
        messages, size = [b""] if primes and self.stream.reader == self.reader else [], 0
        while size < _AT_ONCE and (data := self.stream.pop(self.reader)) is not None:
            messages.append(data)
            size += len(data)
        return await self.session.events(self.stream, messages) if messages else b""

    async def _begin(self) -> None:
        await self.request.start(200, _HEADERS)
        for event in self.first:
            await self._send(event)
        self.first = ()

    async def _send(self, event: bytes) -> None:
        await self.request.send_part(event)
        self._last_sent = self._loop.time()

    async def _finish(self) -> None:
        if (retry := self.stream.pop_retry(self.reader)) is not None:
            await self.request.send_part(sse.encode(sse.Event(retry=retry)))
        await self.request.end()

    def _stop(self) -> None:
        """End the wait for the client to leave."""
        if self._waiting is not None:
            self._waiting.reschedule(0)
