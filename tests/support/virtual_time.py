"""An event loop with virtual time: where nothing is ready, its clock jumps to the next timer.

The clock begins at 0 and moves by jumps only, so `loop.time()` can be asserted exactly and a
timeout of 30 s costs nothing. While a thread is at work for the loop, the loop waits for it and the
clock stands. Where a socket, a pipe or a process was opened, `opened` says so, and the loop waits
as an ordinary one: such a test belongs on one.
"""

from __future__ import annotations

import asyncio
import math
import selectors
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import thread as pools
from contextlib import contextmanager
from typing import Any, Final

import pytest

from mcp_runtime.shared import threads
from tests.support.memory_network import HOST, MemoryNetwork

__all__ = ["Stuck", "VirtualTimeLoop", "awaited", "elapse", "now", "on_virtual_time"]

REAL_SECONDS: Final = 60.0
"""How long a loop waits for a thread, and how much of the processor it uses, before it gives up."""
_LOOK_EVERY: Final = 0.02
_TURNS: Final = 1024
"""Between two looks at the processor's time."""


class Stuck(AssertionError):
    """The test can never end. Act: its author; the text names every task and what it awaits."""


class _Job(threads._Job):
    """A plain function's call in the runtime's threads; counted until the loop knows its end."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        if isinstance(self.loop, VirtualTimeLoop):
            self.loop.jobs[id(self)] = self

    def settle(self, how: Callable[[Any], None], value: Any) -> None:
        if isinstance(self.loop, VirtualTimeLoop):
            self.loop.jobs.pop(id(self), None)
        super().settle(how, value)

    @property
    def reports(self) -> bool:
        """Whether its end will still be told to the loop."""
        return self.state not in {threads._State.DROPPED, threads._State.LEFT}


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def register(self, *given: Any) -> selectors.SelectorKey:
        key = super().register(*given)
        self._loop.opened |= len(self.get_map()) > 1  # the first is the loop's own
        return key

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._loop.watch()
        if (ready := super().select(0)) or timeout == 0:
            return ready
        waited = 0.0
        while workers := self._loop.workers():
            if waited > REAL_SECONDS:
                raise Stuck(
                    f"nothing came of {workers} in {REAL_SECONDS:.0f} s: {awaited(self._loop)}"
                )
            began = time.monotonic()
            if ready := super().select(_LOOK_EVERY):
                return ready
            waited += time.monotonic() - began
        # A thread may have told its end and be gone since the pipe was read: read it again.
        if ready := super().select(0):
            return ready
        if self._loop.opened and (ready := super().select(timeout or REAL_SECONDS)):
            return ready
        self._loop.jump()
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._now, self._turns = 0.0, 0
        self._began = time.process_time()
        self._older = {*threading.enumerate()}
        self._futures = list[asyncio.Future[Any]]()
        self.jobs: dict[int, _Job] = {}
        self.opened = False
        """Whether a socket, a pipe or a process was opened."""
        super().__init__(_Selector(self))
        self.network = MemoryNetwork(self)

    async def create_server(
        self, factory: Any, host: Any = None, port: Any = None, **given: Any
    ) -> Any:
        """Listen in memory on the loopback, unless TLS or a socket is asked for."""
        if host != HOST or any(given.get(name) for name in ("ssl", "sock")):
            return await super().create_server(factory, host, port, **given)
        return self.network.listen(factory, port or 0)

    async def create_connection(
        self, factory: Any, host: Any = None, port: Any = None, **given: Any
    ) -> Any:
        """Connect in memory to what listens there."""
        if host != HOST or port not in self.network.listeners or given.get("ssl"):
            return await super().create_connection(factory, host, port, **given)
        return await self.network.connect(factory, port)

    def close(self) -> None:
        super().close()
        self.network.close()

    def time(self) -> float:
        return self._now

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:
        future = super().run_in_executor(executor, func, *args)
        self._futures.append(future)
        return future

    def workers(self) -> list[str]:
        """The threads that may still call the loop back."""
        self._futures = [each for each in self._futures if not each.done()]
        others = {*threading.enumerate()} - self._older - {*pools._threads_queues}
        return [
            *(f"the executor's {each!r}" for each in self._futures),
            *(f"the call of {each.call!r}" for each in self.jobs.values() if each.reports),
            *(f"{each!r}" for each in others if each.name != "mcp-handler" and each.is_alive()),
        ]

    def jump(self) -> None:
        """Set the clock to the next timer. Raises Stuck if there is none."""
        if not self._scheduled:
            raise Stuck(f"nothing is ready, no timer is set, no thread is at work: {awaited(self)}")
        self._now = max(self._now, self._scheduled[0].when())
        # asyncio runs the timers before now + resolution, which has to be another number than now.
        self._clock_resolution = math.ulp(self._now)

    def watch(self) -> None:
        """Raises Stuck where callbacks or timers follow each other for ever."""
        self._turns += 1
        if self._turns % _TURNS == 0 and time.process_time() - self._began > REAL_SECONDS:
            self._began = time.process_time()  # what is cancelled now may run
            raise Stuck(f"{REAL_SECONDS:.0f} s of the processor are used up: {awaited(self)}")


def now() -> float:
    """Seconds since the test began. Raises AssertionError on an ordinary loop."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop), "an ordinary loop has no time to be asserted"
    return loop.time()


async def elapse(seconds: float) -> None:
    """Sleep on virtual time. Raises AssertionError on an ordinary loop."""
    now()
    await asyncio.sleep(seconds)


@contextmanager
def on_virtual_time() -> Iterator[Callable[[], VirtualTimeLoop]]:
    """A factory of loops. In the thread of such a loop `time.time` moves with the loop's clock."""
    real = time.time
    began = real()

    def now() -> float:
        loop = asyncio._get_running_loop()
        return began + loop.time() if isinstance(loop, VirtualTimeLoop) else real()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", now)
        patch.setattr(threads, "_Job", _Job)
        yield VirtualTimeLoop


def awaited(loop: asyncio.AbstractEventLoop) -> str:
    """Every pending task of a loop, and where it waits."""
    return "".join(
        f"\n  {task.get_name()} {' > '.join(_places(task.get_coro())) or 'has not begun'}"
        for task in sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    )


def _places(step: Any) -> Iterator[str]:
    while step is not None:
        for kind in ("cr", "gi", "ag"):
            if (frame := getattr(step, f"{kind}_frame", None)) is not None:
                code = frame.f_code
                yield f"{code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
                break
        else:
            return
        step = getattr(step, {"cr": "cr_await", "gi": "gi_yieldfrom", "ag": "ag_await"}[kind])
