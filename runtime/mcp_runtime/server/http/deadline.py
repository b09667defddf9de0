"""Ends waits that take too long, with one timer for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, Final, TypeVar

_T = TypeVar("_T")


class Deadline:
    """Gives each wait `seconds`.

    It does what `asyncio.timeout` does, for many waits that nearly all end at once: a timer for
    each would cost more than the wait.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds: Final = seconds
        self._begun: dict[asyncio.Task[Any], float] = {}
        """When each wait began, oldest first."""
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self, work: Awaitable[_T]) -> _T:
        """The result of `work`. Raises TimeoutError if it took too long, and what it raises."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None
        before = task.cancelling()
        self._begun[task] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self.seconds, self._sweep)
        try:
            return await work
        except asyncio.CancelledError:
            if task in self._late and task.uncancel() <= before:
                raise TimeoutError from None
            raise
        finally:
            del self._begun[task]
            self._late.discard(task)

    def _sweep(self) -> None:
        loop, self._timer = asyncio.get_running_loop(), None
        for task, begun in self._begun.items():
            if begun + self.seconds > loop.time():
                self._timer = loop.call_at(begun + self.seconds, self._sweep)
                break
            if task not in self._late:
                self._late.add(task)
                task.cancel()
