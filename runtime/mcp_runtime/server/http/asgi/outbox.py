"""A queue of messages for an HTTP response; it outlives the response that reads it."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mcp_runtime.core.session.held import EVENT_BYTES, SMALL, UNREAD, HeldBytes, Hold
from mcp_runtime.limits import Limits

if TYPE_CHECKING:
    from mcp_runtime.server.http.asgi.stream_note import Rerun


class Outbox:
    """Messages wait here for their reader, a response. There is one reader at a time.

    A new reader (`attach`) replaces the previous one. `name` is unique in the session.
    """

    # Set where they are needed: a stream that carries one message is made and dropped in no time.
    finished: bool = False
    note: bytes = b""
    """Bytes stored with the stream's events, for the process continuing it."""
    rerun: Rerun | None = None
    """The note in place of `note`, if its requests may be run again."""
    owed: int = 0
    """How many requests are still to be answered on this stream."""
    reader: int = 0
    """The number of the current reader; 0 for none."""
    readers: int = 0
    """How many readers there have been."""
    until: float = math.inf
    """The time when the token of the stream's reader expires, by the clock of the event loop."""
    retry: int | None = None
    """Milliseconds after which the client is to reconnect; None while the response goes on."""
    _storing: asyncio.Lock | None = None
    _waiting: deque[bytes] | None = None
    _hold: Hold | None = None
    _size: int = 0
    _waiter: asyncio.Future[None] | None = None
    _listener: Callable[[], None] | None = None
    _room: asyncio.Event | None = None

    def __init__(
        self, name: str, limits: Limits, held: HeldBytes | None = None, stored: int = 0
    ) -> None:
        self.name = name
        self.limits = limits
        self._held = held
        self.stored = stored
        """How many of its events are stored."""

    # ---- writing

    def put(self, data: bytes) -> None:
        """Add a message, unless the stream is finished."""
        if self.finished:
            return
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(data)
        self._size += len(data)
        if self._size > SMALL or self._hold is not None:
            self._count()
        if self._waiter is not None or self._listener is not None:
            self._wake()

    def _count(self) -> None:
        """Count the bytes waiting for the reader, which may be given up where room is needed."""
        if self._hold is None:
            self._hold = Hold(self._held or HeldBytes())
            self._hold.offer(UNREAD, self.give_up)
        size = self._size + EVENT_BYTES * len(self._waiting or ())
        self._hold.change(size - self._hold.size)
        if not size:
            self._hold = None

    def give_up(self) -> None:
        """Drop the waiting messages: their reader is too slow, and others need the room."""
        self._waiting, self._size, self._hold = None, 0, None
        self._make_room()

    def finish(self) -> None:
        """Finish the stream: no message follows the present ones."""
        if not self.finished:
            self.finished = True
            self._wake()
            self._make_room()

    def interrupt(self, retry: int) -> None:
        """End the current response; the stream goes on in the next one."""
        self.retry = retry
        self._wake()

    @property
    def is_behind(self) -> bool:
        """True if so much waits that droppable messages should be dropped."""
        return self._size > self.limits.unread_bytes

    @property
    def is_full(self) -> bool:
        return self._size > self.limits.outgoing_bytes

    async def drain(self) -> None:
        """Wait until there is room for more, or the stream is finished."""
        while self.is_full and not self.finished:
            if self._room is None:
                self._room = asyncio.Event()
            await self._room.wait()

    def _make_room(self) -> None:
        if self._room is not None:
            self._room.set()
            self._room = None

    @property
    def storing(self) -> asyncio.Lock:
        """Lock held while messages taken from the outbox are being stored."""
        if self._storing is None:
            self._storing = asyncio.Lock()
        return self._storing

    # ---- reading

    def attach(self) -> int:
        """Attach a new reader and return its number. The previous reader gets nothing more."""
        self.readers += 1
        self._set_reader(self.readers)
        return self.reader

    def leave(self, reader: int) -> None:
        """Detach this reader, if it is still the current one."""
        if reader == self.reader:
            self._listener = None
            self._set_reader(0)

    def _set_reader(self, reader: int) -> None:
        self.reader = reader
        self._wake()
        self._listener = None

    def listen(self, reader: int, listener: Callable[[], None]) -> None:
        """Call `listener` whenever there may be news for this reader."""
        if reader == self.reader:
            self._listener = listener

    def has_more(self, reader: int) -> bool:
        """Return True if that reader may get more messages."""
        return reader == self.reader and self.retry is None and not self.is_over

    def pop(self, reader: int) -> bytes | None:
        """Return the next message, if one waits and this is the current reader."""
        return self._pop() if self.has_more(reader) else None

    def _pop(self) -> bytes | None:
        if not self._waiting:
            return None
        data = self._waiting.popleft()
        if not self._waiting:
            self._waiting = None  # an empty deque takes as much memory as the rest of the stream
        self._size -= len(data)
        if self._hold is not None:
            self._count()
        if not self.is_full:
            self._make_room()
        return data

    def pop_retry(self, reader: int) -> int | None:
        """Take the time until this reader's client is to reconnect, in milliseconds; None if it is
        not to.
        """
        if reader != self.reader:
            return None
        retry, self.retry = self.retry, None
        return retry

    def pop_only(self) -> bytes | None:
        """Take the waiting message, if the stream is finished and has no other."""
        waiting = self._waiting
        return self._pop() if waiting and self.finished and len(waiting) == 1 else None

    @property
    def is_over(self) -> bool:
        """True if the stream is finished and nothing waits."""
        return self.finished and not self._waiting

    @property
    def has_news(self) -> bool:
        return bool(self._waiting) or self.finished or self.retry is not None

    async def news(self, seconds: float) -> None:
        """Wait until there is news, or `seconds` have passed."""
        for _ in range(2):  # turns of the event loop, within which most handlers end
            if self._waiting or self.finished:
                return
            await asyncio.sleep(0)
        if not self.has_news:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wait()

    async def next(self, reader: int) -> bytes | None:
        """Wait for the next message; None if this reader gets no more."""
        while self.has_more(reader):
            if (data := self.pop(reader)) is not None:
                return data
            await self._wait()
        return None

    def put_back(self, messages: Sequence[bytes]) -> None:
        """Put back messages taken before, as the next ones."""
        self._waiting = deque([*messages, *(self._waiting or ())])
        self._size += sum(map(len, messages))
        if self._size > SMALL:
            self._count()

    def resume(self, name: str, number: int, missed: Sequence[bytes]) -> None:
        """Continue after the events the store has after event `number`.

        Waiting messages that were stored, although the reply was lost, are dropped here.
        """
        if name == self.name:
            for data in missed[max(0, self.stored - number) :]:
                if self._waiting and self._waiting[0] == data:
                    self._pop()
        self.name, self.stored = name, number + len(missed)

    async def _wait(self) -> None:
        self._wake()
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
        if self._listener is not None:
            self._listener()
