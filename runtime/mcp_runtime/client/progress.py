"""Calls an application's `on_progress`, which may be async, with the progress of one request."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final

from mcp_runtime.limits import Limits
from mcp_runtime.shared.connection import OnProgress

log: Final = logging.getLogger("mcp_runtime")


class ProgressCalls:
    """The progress calls for one request. They are over when the context is left.

    Calls of an async function run one after another, in a task. `Limits.progress_calls` wait for
    their turn; one more takes the place of the oldest. If the request fails, they are cancelled;
    calls that delay the result for longer than `Limits.progress_wait` are, too.
    """

    def __init__(self, on_progress: OnProgress, limits: Limits) -> None:
        self._on_progress = on_progress
        self._limits = limits
        self._waiting: deque[Coroutine[Any, Any, object]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> OnProgress:
        return self._call

    def _call(self, progress: float, total: float | None, message: str | None) -> None:
        work = self._on_progress(progress, total, message)
        if not inspect.iscoroutine(work):
            return
        if len(self._waiting) >= self._limits.progress_calls:
            self._waiting.popleft().close()
        self._waiting.append(work)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            try:
                await self._waiting.popleft()
            except (Exception, SystemExit):
                log.exception("a callback failed")

    async def __aexit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        if self._running is None:
            return
        try:
            if kind is not None:
                self._running.cancel()
            seconds = self._limits.progress_wait
            if (await asyncio.wait((self._running,), timeout=seconds))[1]:
                log.warning("on_progress took over %s s (Limits.progress_wait): cancelled", seconds)
        finally:
            self._running.cancel()
            while self._waiting:
                self._waiting.pop().close()
