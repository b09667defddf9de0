"""Messages on their way into HTTP responses: one after another, whoever reads them and when."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from mcp_runtime.limits import Limits

__all__ = ["Stream"]


class Stream:
    """Messages wait here until a reader takes them; one reader at a time does.

    A reader that takes over (`attach`) ends the one before. `name` is unique in its session.
    """

    __slots__ = (
        "_limits",
        "_room",
        "_size",
        "_waiter",
        "_waiting",
        "finished",
        "name",
        "reader",
        "readers",
        "retry",
        "storing",
    )

    def __init__(self, name: str, limits: Limits) -> None:
        self.name: Final = name
        self.finished = False
        self.reader = 0
        """Who reads now; 0 for nobody."""
        self.readers = 0
        """How many there were."""
        self.retry: int | None = None
        """Milliseconds after which the reader shall come again; None to go on."""
        self.storing: Final = asyncio.Lock()
        """Held while a message that was taken is stored."""
        self._limits: Final = limits
        self._waiting: deque[bytes] | None = None
        self._size = 0
        self._waiter: asyncio.Future[bool] | None = None
        self._room: asyncio.Event | None = None

    # ---- who writes

    def put(self, data: bytes) -> None:
        """After the end it does nothing."""
        if self.finished:
            return
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append(data)
        self._size += len(data)
        self._wake()

    def finish(self) -> None:
        """What was put so far is all."""
        self.finished = True
        self._wake()
        self._make_room()

    def interrupt(self, retry: int) -> None:
        """The response that reads ends now; the stream goes on in the next."""
        self.retry = retry
        self._wake()

    @property
    def is_behind(self) -> bool:
        """Whether so much waits that what can be left out should be."""
        return self._size > self._limits.unread_bytes

    @property
    def is_full(self) -> bool:
        return self._size > self._limits.outgoing_bytes

    async def drain(self) -> None:
        """Returns when there is room for more, or nobody will read."""
        while self.is_full and not self.finished:
            if self._room is None:
                self._room = asyncio.Event()
            await self._room.wait()

    def _make_room(self) -> None:
        if self._room is not None:
            self._room.set()
            self._room = None

    # ---- who reads

    def attach(self) -> int:
        """A number for `take`; the reader before gets no more."""
        self.readers += 1
        self.reader = self.readers
        self._wake()
        return self.reader

    def leave(self, reader: int) -> None:
        """That reader, if it still reads, gets no more."""
        if reader == self.reader:
            self.reader = 0
            self._wake()

    @property
    def alone(self) -> bytes | None:
        """The last message, where it is the only one that waits."""
        return self._waiting[0] if self._waiting and self.finished and self.count == 1 else None

    @property
    def count(self) -> int:
        """How many messages wait."""
        return len(self._waiting) if self._waiting else 0

    @property
    def is_over(self) -> bool:
        """Whether nothing waits, and nothing will come."""
        return self.finished and not self._waiting

    @property
    def has_news(self) -> bool:
        return bool(self._waiting) or self.finished or self.retry is not None

    async def is_quick(self) -> bool:
        """Whether there is news within two turns of the loop: most handlers are done by then."""
        for _ in range(2):
            if self.has_news:
                return True
            await asyncio.sleep(0)
        return self.has_news

    async def news(self, seconds: float) -> None:
        """Returns when there is something to take, the stream has ended, or after that time."""
        if not await self.is_quick():
            await self._wait(seconds)

    async def take(self, reader: int, seconds: float) -> bytes | None:
        """The next message; empty if none came in that time; None if no more is for this reader."""
        while reader == self.reader and self.retry is None:
            if self._waiting:
                return self._taken(self._waiting.popleft())
            if self.finished:
                return None
            if not await self._wait(seconds):
                return b""
        return None

    def _taken(self, data: bytes) -> bytes:
        self._size -= len(data)
        if not self.is_full:
            self._make_room()
        return data

    def put_back(self, data: bytes) -> None:
        """What was taken is the next again."""
        assert self._waiting is not None
        self._waiting.appendleft(data)
        self._size += len(data)

    async def _wait(self, seconds: float) -> bool:
        """Whether something happened in that time."""
        self._wake()
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiter = waiter
        timer = loop.call_later(seconds, _settle, waiter, False)
        try:
            return await waiter
        finally:
            timer.cancel()

    def _wake(self) -> None:
        if self._waiter is not None:
            _settle(self._waiter, True)
            self._waiter = None


def _settle(waiter: asyncio.Future[bool], happened: bool) -> None:
    if not waiter.done():
        waiter.set_result(happened)
