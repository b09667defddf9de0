"""Joins simultaneous operations to a batch, so that they share one round trip."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

from mcp_runtime.stores import StoreUnavailable

_W = TypeVar("_W")


class Batches(Generic[_W]):
    """A queue of operations. While one batch runs, new operations wait for the next batch.

    `do` returns a result for each operation, or the exception to raise for it.
    """

    def __init__(self, do: Callable[[Sequence[_W]], Awaitable[Sequence[Any]]], wait: float) -> None:
        self._do = do
        self._wait = wait
        self._waiting: list[tuple[_W, asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle

    async def run(self, work: _W) -> Any:
        """Run an operation and return its result. Raises StoreUnavailable if it takes too long."""
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((work, done))
        if self._task is None:
            self._task = asyncio.create_task(self._run_all())
        return await done

    async def _run_all(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                self._expire_later(batch)
                for (_, done), result in zip(batch, await self._results(batch), strict=True):
                    _settle(done, result)
                self._timer.cancel()
        finally:
            self._timer.cancel()
            self._task = None

    def _expire_later(self, batch: Sequence[tuple[_W, asyncio.Future[Any]]]) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._wait, self._expire, batch)

    def _expire(self, batch: Sequence[tuple[_W, asyncio.Future[Any]]]) -> None:
        """Fail a batch which takes too long, and all operations waiting for their turn."""
        late, self._waiting = [*batch, *self._waiting], []
        for _, done in late:
            _settle(done, StoreUnavailable(f"no answer within {self._wait} s"))
        self._expire_later(())

    async def _results(self, batch: Sequence[tuple[_W, Any]]) -> Sequence[Any]:
        try:
            return await self._do([work for work, _ in batch])
        except Exception as error:
            return [error] * len(batch)


def _settle(done: asyncio.Future[Any], result: Any) -> None:
    if done.done():  # nobody waits any more
        return
    if isinstance(result, BaseException):
        done.set_exception(result)
    else:
        done.set_result(result)
