"""Waits for what another process, a thread or a socket does, with one generous deadline."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Final

__all__ = ["PATIENCE", "eventually", "until"]

PATIENCE: Final = 60.0
"""Seconds in which a busy machine has done anything that a test waits for."""
_LOOK: Final = 0.002
"""Seconds between two looks."""


async def until(
    is_so: Callable[[], object], seconds: float = PATIENCE, every: float = _LOOK
) -> None:
    """Wait on the event loop until a condition holds, which may be a coroutine function.

    A condition that takes work is looked at `every` so many seconds. Raises AssertionError that
    names it.
    """
    end = asyncio.get_running_loop().time() + seconds
    while not (await said if inspect.isawaitable(said := is_so()) else said):
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(_given_up(is_so, seconds))
        await asyncio.sleep(every)


def eventually(is_so: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Block until a condition holds. Raises AssertionError that names it."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(_given_up(is_so, seconds))
        time.sleep(_LOOK)


def _given_up(is_so: Callable[[], object], seconds: float) -> str:
    """What was waited for, in its own words: the lines of source that say it."""
    try:
        said = inspect.getsource(is_so).strip()
    except (OSError, TypeError):
        said = repr(is_so)
    return f"waited {seconds:g} seconds for: {said}"
