"""Runs tests that are coroutines: on virtual time, or on an ordinary loop where they say so.

A test leaves no task behind. On an ordinary loop it has `DEADLINE` seconds, however long it takes.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any, Final

import pytest

from tests.support.virtual_time import VirtualTimeLoop, awaited, on_virtual_time

__all__ = ["DEADLINE", "run", "run_in_real_time", "run_item"]

DEADLINE: Final = 60.0
"""Of a test in real time, in seconds."""
PATIENCE: Final = 10.0
"""Seconds for tasks that end after their test: virtual ones, where time is virtual."""


def run_item(item: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function. None: pytest calls it, and so each example runs."""
    runs = run_in_real_time if item.get_closest_marker("real_time") else run
    if (given := getattr(item.obj, "hypothesis", None)) is not None:
        given.inner_test = _in_step(runs, given.inner_test)
        return None
    names = inspect.signature(item.obj).parameters
    runs(partial(item.obj, **{name: item.funcargs[name] for name in names}))
    return True


def _in_step(
    runs: Callable[[Callable[[], Awaitable[object]]], None], test: Callable[..., Awaitable[object]]
) -> Callable[..., None]:
    @wraps(test)
    def in_step(*args: Any, **given: Any) -> None:
        runs(partial(test, *args, **given))

    return in_step


def run(main: Callable[[], Awaitable[object]]) -> None:
    """Run a coroutine function on a loop of its own, with virtual time."""
    with on_virtual_time() as make, asyncio.Runner(debug=_debugs(), loop_factory=make) as runner:
        runner.run(_alone(main))
        loop = runner.get_loop()
        assert isinstance(loop, VirtualTimeLoop)
        assert not loop.opened, "a socket, a pipe or a process was opened: mark the test real_time"


def run_in_real_time(main: Callable[[], Awaitable[object]], seconds: float = DEADLINE) -> None:
    """Run a coroutine function on an ordinary loop. Raises AssertionError after so many seconds."""
    with asyncio.Runner(debug=_debugs()) as runner:
        runner.run(_in_time(_alone(main), seconds))
    gc.collect()  # what was left open warns here, in the test that left it


def _debugs() -> bool | None:
    """Whether asyncio's debug mode is on; None leaves it to asyncio."""
    return "MCP_TEST_ASYNCIO_DEBUG" in os.environ or None


async def _in_time(main: Awaitable[object], seconds: float) -> None:
    task = asyncio.ensure_future(main)
    await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        raise AssertionError(f"gave up after {seconds:.0f} s:{awaited(task.get_loop())}")
    task.result()


async def _alone(main: Callable[[], Awaitable[object]]) -> None:
    loop, before = asyncio.get_running_loop(), asyncio.all_tasks()
    await main()
    await asyncio.sleep(0)
    if left := asyncio.all_tasks() - before:
        await asyncio.wait(left, timeout=PATIENCE)
    if any(not task.done() for task in left):
        raise AssertionError(f"tasks are left behind:{awaited(loop)}")
