"""Runs a coroutine like `asyncio.run`, but waits only a limited time for tasks left behind."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias, TypeVar

from mcp_runtime.errors import counted

_T = TypeVar("_T")
NewLoop: TypeAlias = Callable[[], asyncio.AbstractEventLoop]

log: Final = logging.getLogger("mcp_runtime")


def run(main: Coroutine[Any, Any, _T], wait: float, new_loop: NewLoop | None = None) -> _T:
    """Run `main` and return its result; then cancel the tasks it left.

    The tasks get `wait` seconds to end. `asyncio.run` would wait for ever for a task which ignores
    its cancellation.
    """
    runner = asyncio.Runner(loop_factory=new_loop)
    try:
        return runner.run(main)
    finally:
        _close(runner, wait)


async def run_until_terminated(main: Coroutine[Any, Any, _T]) -> _T:
    """Run `main` and return its result. The first SIGTERM cancels it, the second ends the process.

    If the application has its own handler of SIGTERM, this handler stays in force.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    is_main = threading.current_thread() is threading.main_thread()
    if task is None or not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return await main

    def cancel(number: int, frame: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        loop.call_soon_threadsafe(task.cancel)

    signal.signal(signal.SIGTERM, cancel)
    try:
        return await main
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _close(runner: asyncio.Runner, wait: float) -> None:
    loop = runner.get_loop()
    left = loop.run_until_complete(_cancel_all(wait))
    if not left:
        runner.close()
        return
    log.warning("given up, since cancellation was ignored: %s", counted(left, "task"))
    # The loop is closed under these tasks, so any later report about them is noise.
    loop.set_exception_handler(lambda loop, context: None)
    asyncio.set_event_loop(None)
    loop.close()


async def _cancel_all(wait: float) -> int:
    """Cancel all tasks; return how many still run after `wait` seconds."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if not tasks:
        return 0
    _, pending = await asyncio.wait(tasks, timeout=wait)
    return len(pending)


def ends_the_task(error: BaseException) -> bool:
    """True if an exception of a handler is aimed at its task, and is not just a failed handler.

    A handler also ends in CancelledError if it awaits a cancelled task; its own task goes on then.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, KeyboardInterrupt | GeneratorExit)
