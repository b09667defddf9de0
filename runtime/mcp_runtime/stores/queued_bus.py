"""The part of a bus that all engines share: a bounded queue to send, and receivers by topic."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeAlias

from mcp_runtime.limits import Limits
from mcp_runtime.stores import StoreUnavailable

log: Final = logging.getLogger("mcp_runtime.stores")

Message: TypeAlias = tuple[str, bytes]
"""A topic, and what is published on it."""

_RETRY: Final = 0.2
"""Seconds until what could not be sent is sent again."""


class QueuedBus(ABC):
    """While it is entered a task sends what waits, and another receives.

    While the engine is away at most `Limits.bus_bytes` wait; what is published then is dropped.
    """

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.bus_bytes
        self._waiting: deque[Message] = deque()
        self._size = 0
        self._news = asyncio.Event()
        self._receivers: dict[str, list[Callable[[bytes], None]]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self.dropped = 0
        """How many messages were dropped because too much waited."""

    @abstractmethod
    async def _send(self, messages: Sequence[Message]) -> None:
        """Raises StoreUnavailable."""

    @abstractmethod
    async def _receive(self) -> None:
        """Passes messages to `_deliver` for as long as it can. Raises StoreUnavailable."""

    @abstractmethod
    async def _topics_changed(self) -> None:
        """Called when there is another topic to receive, or one less. Raises StoreUnavailable."""

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
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
        """Begins again after a failure."""
        while True:
            try:
                await run()
            except StoreUnavailable as error:
                log.warning("the bus is interrupted: %s", error)
                await asyncio.sleep(_RETRY)

    # ---- publishing

    def publish(self, topic: str, message: bytes) -> None:
        if self._size + len(message) > self._limit:
            self.dropped += 1
            return
        self._waiting.append((topic, message))
        self._size += len(message)
        self._news.set()

    async def _drain(self) -> None:
        while True:
            await self._news.wait()
            messages = list(self._waiting)
            await self._send(messages)
            for _, message in messages:
                self._waiting.popleft()
                self._size -= len(message)
            if not self._waiting:
                self._news.clear()

    # ---- receiving

    @asynccontextmanager
    async def subscribed(
        self, topic: str, receive: Callable[[bytes], None]
    ) -> AsyncGenerator[None]:
        self._receivers.setdefault(topic, []).append(receive)
        try:
            await self._topics_changed()
            yield
        finally:
            self._receivers[topic].remove(receive)
            if not self._receivers[topic]:
                del self._receivers[topic]
            with suppress(StoreUnavailable):  # then messages arrive that nobody receives
                await self._topics_changed()

    def _deliver(self, topic: str, message: bytes) -> None:
        for receive in [*self._receivers.get(topic, ())]:
            receive(message)
