"""Waits before something is tried again, which grow from attempt to attempt, and end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from mcp_runtime.errors import Disconnected
from mcp_runtime.limits import Limits

__all__ = ["Backoff"]

_SOON: Final = 0.1
_LATEST: Final = 30.0
"""Bounds for our own waits, in seconds."""


class Backoff:
    """Of `what`; `failures` are the attempts in a row that were in vain.

    `draw` gives numbers from 0 to 1, to spread what is repeated.
    """

    def __init__(self, what: str, limits: Limits, draw: Callable[[], float]) -> None:
        self.failures = 0
        self._what = what
        self._limits = limits
        self._draw = draw

    def outlived(self, seconds: float) -> None:
        """The last attempt has lasted so long; one that was long was not in vain."""
        if seconds > _LATEST:
            self.failures = 0

    async def pause(self, *, least: float = 0.0, soon: bool = False) -> None:
        """Before the next attempt, at least so long; `soon` has no wait of ours before the first.

        Raises Disconnected where there were too many.
        """
        limits = self._limits
        self.failures += 1
        if self.failures > limits.resume_attempts:
            raise Disconnected(f"{self._what} is lost after {limits.resume_attempts} attempts")
        own = limits.resume_wait * 2 ** (self.failures - 1) * (1 + self._draw()) / 2
        if self.failures == 1 and soon:
            own = 0
        await asyncio.sleep(max(least, min(own, _LATEST), _SOON))
