"""Shares one lifespan among several users: the first enters it, the last leaves it.

It is entered and left in one task of its own, because some context managers require that.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any


class Lifespan:
    """One life of a lifespan; for the next life make another."""

    def __init__(self, lifespan: AbstractAsyncContextManager[Any]) -> None:
        self._lifespan = lifespan
        self._users = 0
        self._state: asyncio.Future[Any] | None = None
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def enter(self) -> Any:
        """What the lifespan yields. Raises what entering it raises."""
        self._users += 1
        if self._state is None:
            self._state = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._live(self._state))
        return await asyncio.shield(self._state)

    async def leave(self) -> bool:
        """Whether that was the last user. Raises what leaving the lifespan raises."""
        self._users -= 1
        if self._users:
            return False
        self._over.set()
        if self._task is not None:
            await self._task
        return True

    async def _live(self, state: asyncio.Future[Any]) -> None:
        try:
            async with self._lifespan as yielded:
                state.set_result(yielded)
                await self._over.wait()
        except BaseException as error:
            if state.done():
                raise
            state.set_exception(error)
