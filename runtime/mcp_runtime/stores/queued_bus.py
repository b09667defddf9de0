"""The base of buses over an engine: a bounded queue to send, and receivers by topic."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

from mcp_runtime.errors import counted
from mcp_runtime.limits import Limits
from mcp_runtime.stores import EVENT_OVERHEAD, StoreUnavailable

log: Final = logging.getLogger("mcp_runtime.stores")

Message: TypeAlias = tuple[str, bytes]
"""A topic, and the data published on it."""

_RETRY: Final = 0.2
"""Seconds until a failed sending or receiving is tried again."""


def size_of(topic: str, message: bytes) -> int:
    """Return the bytes counted for a message in `Limits.bus_bytes`."""
    return len(topic) + len(message) + EVENT_OVERHEAD


class QueuedBus(ABC):
    """A bus; inside `running()` one task sends waiting messages, and another task receives.

    While the engine is away at most `Limits.bus_bytes` wait; further messages are dropped. A
    message which cannot be sent or handled is logged and dropped, and both tasks go on.
    """

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.bus_bytes
        self._waiting: deque[Message] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self._receivers: dict[str, list[Callable[[bytes], None]]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.dropped = 0
        """The number of messages dropped."""

    @abstractmethod
    async def _send(self, messages: Sequence[Message]) -> None:
        """Send messages. Raises StoreUnavailable."""

    @abstractmethod
    async def _receive(self) -> None:
        """Receive messages and pass them to `_deliver`. Raises StoreUnavailable."""

    @abstractmethod
    async def _adapt_to_topics(self) -> None:
        """Adapt to a new topic, or one less. Raises StoreUnavailable."""

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        self._news = asyncio.Event()  # the last one belongs to the event loop that ran before
        if self._waiting:
            self._news.set()
        self._tasks = [
            asyncio.create_task(self._always(run)) for run in (self._drain, self._receive)
        ]
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)

    async def _always(self, run: Callable[[], Awaitable[None]]) -> None:
        """Run `run` again and again, also after a failure."""
        while True:
            try:
                await run()
            except StoreUnavailable as error:
                log.warning("the bus is interrupted: %s", error)
            except Exception:
                log.exception("the bus is interrupted, and begins again")
            else:
                continue
            await asyncio.sleep(_RETRY)

    # ---- publishing

    def publish(self, topic: str, message: bytes) -> None:
        size = size_of(topic, message)
        if self._size + size > self._limit:
            self.dropped += 1
            return
        self._waiting.append((topic, message))
        self._size += size
        self._news.set()

    async def _drain(self) -> None:
        while True:
            await self._news.wait()
            messages = list(self._waiting)
            try:
                await self._send(messages)
            except StoreUnavailable:
                raise
            except Exception:
                self.dropped += len(messages)
                lost = counted(len(messages), "message")
                log.exception("%s to other processes cannot be sent", lost)
            for topic, message in messages:
                self._waiting.popleft()
                self._size -= size_of(topic, message)
            if not self._waiting:
                self._news.clear()

    # ---- receiving

    @asynccontextmanager
    async def subscribed(
        self, topic: str, receive: Callable[[bytes], None]
    ) -> AsyncGenerator[None]:
        self._receivers.setdefault(topic, []).append(receive)
        try:
            await self._adapt_to_topics()
            yield
        finally:
            self._receivers[topic].remove(receive)
            if not self._receivers[topic]:
                del self._receivers[topic]
            with suppress(StoreUnavailable):  # then messages without a receiver go on to arrive
                await self._adapt_to_topics()

    def _deliver(self, topic: object, message: object) -> None:
        """Pass a message to its receivers.

        Its types are checked: any client of the engine may have written it.
        """
        if not isinstance(topic, str) or not isinstance(message, bytes):
            log.warning("ignored a message of another process: topic or data has a wrong type")
            return
        for receive in [*self._receivers.get(topic, ())]:
            try:
                receive(message)
            except Exception:
                log.exception("a message of another process cannot be handled: %r", message[:80])
