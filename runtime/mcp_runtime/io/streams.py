"""Messages on their way into HTTP responses: one after another, whoever reads them and when."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from mcp_runtime.limits import Limits

__all__ = ["Stream"]


class Stream:
    """Messages wait here until a response takes them; one response at a time does.

    A response that takes over (`attach`) ends the one before. `name` is unique in its session.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self.name: Final = name
        self.finished = False
        self.readers = 0
        self.retry: int | None = None
        """Milliseconds after which the reader shall come again; None to go on."""
        self._limit = limits.outgoing_bytes
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def put(self, data: bytes) -> None:
        self._waiting.append(data)
        self._size += len(data)
        if self._size > self._limit:
            self._room.clear()
        self._news.set()

    def finish(self, data: bytes = b"") -> None:
        """`data` is the last message, empty for none."""
        if data:
            self.put(data)
        self.finished = True
        self._news.set()

    def interrupt(self, retry: int) -> None:
        """The response that reads ends now; the stream goes on in the next."""
        self.retry = retry
        self._news.set()

    def attach(self) -> int:
        """A number for `take`; the reader before gets no more."""
        self.readers += 1
        self._news.set()
        return self.readers

    @property
    def alone(self) -> bytes | None:
        """The last message, where it is the only one that waits."""
        return self._waiting[0] if self.finished and len(self._waiting) == 1 else None

    @property
    def has_message(self) -> bool:
        return bool(self._waiting)

    @property
    def has_news(self) -> bool:
        return bool(self._waiting) or self.finished or self.retry is not None

    async def news(self) -> None:
        """Returns when there is something to take, or the stream has ended."""
        while not self.has_news:
            self._news.clear()
            await self._news.wait()

    async def take(self, reader: int) -> bytes | None:
        """The next message; None when there is none for this reader any more."""
        while reader == self.readers and self.retry is None:
            if self._waiting:
                data = self._waiting.popleft()
                self._size -= len(data)
                if self._size <= self._limit:
                    self._room.set()
                return data
            if self.finished:
                return None
            self._news.clear()
            await self._news.wait()
        return None

    async def drain(self) -> None:
        """Returns when there is room for more, or nobody will read."""
        if not self.finished:
            await self._room.wait()
