"""Shares one lifespan among several users: the first enters it, the last leaves it.

One task enters and leaves the lifespan, because some context managers must be left by the task that
entered them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, cast


class Lifespan:
    """A lifespan shared by its users. `make` makes a new one for each first user, and for each new
    event loop.

    Raises the exceptions of entering and leaving. This class is no generator: if a user never
    leaves, the end of the event loop ends the lifespan.
    """

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._make = make
        self._users = 0
        self._task: asyncio.Task[None]
        self.state: Any = None
        """The value the lifespan yielded."""

    async def __aenter__(self) -> None:
        if not self._users or self._task.get_loop().is_closed():
            self._users = 0
            self._state, self._over = asyncio.get_running_loop().create_future(), asyncio.Event()
            self._task = asyncio.create_task(self._live(self._state, self._over))
        self._users += 1
        try:
            self.state = await asyncio.shield(self._state)
        except BaseException:
            await self.__aexit__()
            raise

    async def __aexit__(self, *exception: object) -> None:
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
                with suppress(asyncio.CancelledError):  # the event loop ends: it is left first
                    await over.wait()
        except BaseException as error:
            if state.done():
                raise
            state.set_exception(error)
