"""Runs plain functions off the event loop, in threads that do not keep the process alive.

The default executor of asyncio is joined at the end, so one call that hangs would keep a server
alive after its client is gone. At most `limits.THREADS` run at one time.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, TypeAlias

from mcp_runtime.limits import THREADS

__all__ = ["run"]

_Job: TypeAlias = Callable[[], None]


class _Threads:
    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._idle = 0
        self._count = 0
        self._lock = threading.Lock()

    def put(self, job: _Job) -> None:
        with self._lock:
            if self._idle:
                self._idle -= 1
            elif self._count < THREADS:
                self._count += 1
                threading.Thread(target=self._work, name="mcp-handler", daemon=True).start()
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            with self._lock:
                if self._jobs.empty():
                    self._idle += 1


_threads: Final = _Threads()


async def run(function: Callable[..., Any], /, *args: Any, **given: Any) -> Any:
    """Returns or raises what the function does; it sees the caller's context variables.

    After a cancellation of the caller the function runs on, for a thread cannot be ended.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[Any] = loop.create_future()
    call = partial(contextvars.copy_context().run, function, *args, **given)
    _threads.put(partial(_do, call, loop, waiting))
    return await waiting


def _do(
    call: Callable[[], Any], loop: asyncio.AbstractEventLoop, waiting: asyncio.Future[Any]
) -> None:
    try:
        settle = partial(_settle, waiting.set_result, waiting, call())
    except BaseException as error:
        settle = partial(_settle, waiting.set_exception, waiting, _raisable(error))
    if not loop.is_closed():
        loop.call_soon_threadsafe(settle)


def _settle(how: Callable[[Any], None], waiting: asyncio.Future[Any], value: Any) -> None:
    if not waiting.done():
        how(value)


def _raisable(error: BaseException) -> BaseException:
    """A future takes no StopIteration."""
    return (
        RuntimeError("the function raised StopIteration")
        if isinstance(error, StopIteration)
        else error
    )
