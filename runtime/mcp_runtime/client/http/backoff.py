"""Waits before another attempt, longer from attempt to attempt, up to a number of attempts."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass
from typing import Final

from mcp_runtime.errors import Disconnected
from mcp_runtime.limits import Limits

_SHORTEST: Final = 0.1
_LONGEST: Final = 30.0
"""Bounds for our own waits, in seconds."""


@dataclass(eq=False)
class Backoff:
    """Counts failed attempts in a row, and waits between them; `what` names the attempt in
    errors.
    """

    what: str
    limits: Limits
    failures: int = 0

    def note_lifetime(self, seconds: float) -> None:
        """Note how many `seconds` the last attempt lasted; a long one did not fail."""
        if seconds > _LONGEST:
            self.failures = 0

    async def pause(self, *, least: float = 0.0, soon: bool = False) -> None:
        """Wait at least `least` seconds; with `soon` hardly longer before the first attempt.

        Raises Disconnected after too many attempts.
        """
        limits = self.limits
        self.failures += 1
        if self.failures > limits.resume_attempts:
            raise Disconnected(f"{self.what} is lost after {limits.resume_attempts} attempts")
        spread = (1 + random.random()) / 2  # so that not all clients come back at one time
        wait = limits.resume_wait * 2 ** (self.failures - 1) * spread
        if self.failures == 1 and soon:
            wait = 0
        await asyncio.sleep(max(least, min(wait, _LONGEST), _SHORTEST))
