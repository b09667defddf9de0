"""Shares one lifespan among several users: the first enters it, the last leaves it.

It is entered and left in one task of its own, because some context managers require that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, cast


class Lifespan:
    """A lifespan that `make` makes anew for each first user, and where its event loop has ended.

    Raises what entering and leaving it raise. It is not a generator: where a user never leaves it,
    the end of the event loop does.
    """

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[Any]]) -> None:
        self._make = make
        self._users = 0
        self._task: asyncio.Task[None]
        self.state: Any = None
        """What it has yielded."""

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
