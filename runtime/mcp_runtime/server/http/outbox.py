"""Messages on their way into HTTP responses: one after another, whoever reads them and when."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from mcp_runtime.limits import Limits

__all__ = ["Outbox"]


class Outbox:
    """Messages wait here until a reader takes them; one reader at a time does.

    A reader that takes over (`attach`) ends the one before. `name` is unique in its session.
    """

    __slots__ = (
        "_limits",
        "_listener",
        "_room",
        "_size",
        "_waiter",
        "_waiting",
        "finished",
        "name",
        "owed",
        "reader",
        "readers",
        "retry",
        "storing",
    )

    def __init__(self, name: str, limits: Limits) -> None:
        self.name: Final = name
        self.finished = False
        self.owed = 0
        """How many requests will be answered on it."""
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
        self._waiter: asyncio.Future[None] | None = None
        self._listener: Callable[[], None] | None = None
        self._room: asyncio.Event | None = None

    # ---- who writes

    def put(self, data: bytes) -> None:
        """After the end it does nothing."""
        if self.finished:
            return
        self._messages().append(data)
        self._size += len(data)
        self._wake()

    def _messages(self) -> deque[bytes]:
        if self._waiting is None:
            self._waiting = deque()
        return self._waiting

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
        """A number for `pop`; the reader before gets no more."""
        self.readers += 1
        self._pass_to(self.readers)
        return self.reader

    def leave(self, reader: int) -> None:
        """That reader, if it still reads, gets no more."""
        if reader == self.reader:
            self._listener = None
            self._pass_to(0)

    def _pass_to(self, reader: int) -> None:
        self.reader = reader
        self._wake()
        self._listener = None

    def listen(self, reader: int, listener: Callable[[], None]) -> None:
        """Calls it whenever there may be something to take, or no more, for that reader."""
        if reader == self.reader:
            self._listener = listener

    def has_more(self, reader: int) -> bool:
        """Whether that reader may get more."""
        return reader == self.reader and self.retry is None and not self.is_over

    def pop(self, reader: int) -> bytes | None:
        """The next message, if one waits that is for this reader."""
        if not self._waiting or not self.has_more(reader):
            return None
        data = self._waiting.popleft()
        if not self._waiting:
            self._waiting = None  # an empty one takes as much as the rest of the stream
        self._size -= len(data)
        if not self.is_full:
            self._make_room()
        return data

    def told_to_retry(self, reader: int) -> int | None:
        """After how many milliseconds that reader shall come again, if it shall; asked once."""
        if reader != self.reader:
            return None
        retry, self.retry = self.retry, None
        return retry

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
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._wait()

    async def take(self, reader: int) -> bytes | None:
        """The next message, when it is there; None if no more is for this reader."""
        while self.has_more(reader):
            if (data := self.pop(reader)) is not None:
                return data
            await self._wait()
        return None

    def put_back(self, data: bytes) -> None:
        """What was taken is the next again."""
        self._messages().appendleft(data)
        self._size += len(data)

    async def _wait(self) -> None:
        """Until something happens."""
        self._wake()
        self._waiter = asyncio.get_running_loop().create_future()
        await self._waiter

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
        if self._listener is not None:
            self._listener()
