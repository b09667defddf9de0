"""Shares one lifespan among several users: the first enters it, the last leaves it.

It is entered and left in one task of its own, because some context managers require that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast


class Lifespan:
    """A lifespan that `make` makes anew for each first user."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._make = make
        self._users = 0

    @asynccontextmanager
    async def entered(self) -> AsyncGenerator[Any]:
        """What the lifespan yields. Raises what entering and leaving it raise."""
        if not self._users:
            self._state, self._over = asyncio.get_running_loop().create_future(), asyncio.Event()
            self._task = asyncio.create_task(self._live(self._state, self._over))
        self._users += 1
        try:
            yield await asyncio.shield(self._state)
        finally:
            self._users -= 1
            if not self._users:
                self._over.set()
                await self._task

    async def _live(self, state: asyncio.Future[Any], over: asyncio.Event) -> None:
        try:
            made = self._make()
            if not isinstance(cast("object", made), AbstractAsyncContextManager):
                what = f"the lifespan returned {type(made).__name__}"
                raise TypeError(f"{what}; decorate it with contextlib.asynccontextmanager")
            async with made as yielded:
                state.set_result(yielded)
                await over.wait()
        except BaseException as error:
            if state.done():
                raise
            state.set_exception(error)
