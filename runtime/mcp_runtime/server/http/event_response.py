"""A response that is a stream: events go out as messages come, until the client is gone.

Source: 2025-11-25 basic/transports, "Sending Messages to the Server".
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Protocol

from mcp_runtime.core import sse
from mcp_runtime.server.http.outbox import Outbox
from mcp_runtime.server.http.request import HttpRequest

__all__ = ["EventResponse", "Owner"]

_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
_COMMENT: Final = b":\n\n"


class Owner(Protocol):
    """Whose stream it is."""

    async def event(self, stream: Outbox, data: bytes) -> bytes:
        """The event of a message that was taken from the stream."""
        ...

    def responded(self, stream: Outbox) -> None:
        """The response is over; the stream may go on in another."""
        ...


class EventResponse:
    """Sends a stream to its reader, `first` before all else; after `keep_alive` seconds a comment.

    What comes is sent by a task that ends with it: an idle response only waits for the client to
    go. One that `primes` begins with an event without data, so that there is an id to resume from.
    """

    __slots__ = (
        "_call",
        "_every",
        "_first",
        "_last",
        "_loop",
        "_over",
        "_owner",
        "_primes",
        "_reader",
        "_stream",
        "_task",
        "_timer",
    )

    def __init__(
        self,
        call: HttpRequest,
        owner: Owner,
        stream: Outbox,
        reader: int,
        *,
        keep_alive: float,
        first: Iterable[bytes] = (),
        primes: bool = False,
    ) -> None:
        self._call: Final = call
        self._owner: Final = owner
        self._stream: Final = stream
        self._reader: Final = reader
        self._every: Final = keep_alive
        self._first = first
        self._primes: Final = primes
        self._loop: Final = asyncio.get_running_loop()
        self._last = self._loop.time()
        """When something was sent."""
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._over: asyncio.Timeout | None = None

    async def run(self) -> None:
        """Until the stream has no more for its reader, or the client is gone.

        Raises Gone, and what the making of an event raises.
        """
        try:
            await self._open()
            self._leave()
            if self._task is not None:
                await asyncio.wait({self._task})
                self._task.result()
        except asyncio.CancelledError:
            self._leave()
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait({self._task})
            raise
        finally:  # what was taken is sent, stored, or back in the stream
            self._owner.responded(self._stream)

    async def _open(self) -> None:
        with suppress(TimeoutError):  # all is sent
            async with asyncio.timeout(None) as self._over:
                self._start()
                await self._call.gone()

    def _leave(self) -> None:
        self._over = None
        self._stream.leave(self._reader)
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        self._call.forget()
        self._stream.listen(self._reader, self._wake)
        self._task = self._loop.create_task(self._send_all(begins=True))
        self._timer = self._loop.call_later(self._every, self._tick)

    # ---- what is sent

    def _wake(self) -> None:
        """There may be something to send."""
        if self._task is None:
            self._task = self._loop.create_task(self._send_all())

    def _tick(self) -> None:
        due, now = self._last + self._every, self._loop.time()
        if due <= now and self._task is None:
            self._task = self._loop.create_task(self._send_all(comment=True))
        self._timer = self._loop.call_at(due if due > now else now + self._every, self._tick)

    async def _send_all(self, *, begins: bool = False, comment: bool = False) -> None:
        """Ends when nothing waits, or with the response."""
        try:
            if begins:
                await self._begin()
            elif comment:
                await self._say(_COMMENT)
            while (data := self._stream.pop(self._reader)) is not None:
                await self._say(await self._owner.event(self._stream, data))
            if self._stream.has_more(self._reader):
                self._task = None
                return
            await self._finish()
        except BaseException:
            self._stop()
            raise
        self._stop()

    async def _begin(self) -> None:
        await self._call.begin(200, _HEADERS)
        for event in self._first:
            await self._say(event)
        self._first = ()
        if self._primes and self._stream.reader == self._reader:  # else others read on meanwhile
            await self._say(await self._owner.event(self._stream, b""))

    async def _say(self, event: bytes) -> None:
        await self._call.more(event)
        self._last = self._loop.time()

    async def _finish(self) -> None:
        if (retry := self._stream.told_to_retry(self._reader)) is not None:
            await self._call.more(sse.encode(sse.Event(retry=retry)))
        await self._call.end()

    def _stop(self) -> None:
        """Nobody needs to wait for the client to go."""
        if self._over is not None:
            self._over.reschedule(0)
