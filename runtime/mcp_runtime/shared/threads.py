"""Runs plain functions off the event loop, in threads which do not keep the process alive.

asyncio joins its default executor at the end, so one hanging call would keep a server alive after
its client is gone.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from queue import SimpleQueue
from typing import Any, Final
from weakref import WeakSet, WeakValueDictionary

from mcp_runtime.errors import LocalError
from mcp_runtime.limits import THREADS
from mcp_runtime.shared.places import Places, Room


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, if one runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def require_asyncio() -> None:
    """Raise LocalError if no asyncio loop runs, as under trio."""
    if running_loop() is None:
        raise LocalError("an asyncio event loop must be running: one of trio does not work")


class _State(Enum):
    WAITS = 1
    RUNS = 2
    ENDED = 3
    LEFT = 4
    """Its caller has gone; it runs on without a place."""
    DROPPED = 5
    """Its caller had gone before it ran."""


@dataclass(slots=True)
class _Job:
    """A call of a function, with a place in the `room` of its client."""

    call: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    waiting: asyncio.Future[Any]
    room: Room | None
    state: _State = _State.WAITS

    def settle(self, how: Callable[[Any], None], value: Any) -> None:
        """Pass the result or the exception to the caller; runs on the loop."""
        if self.state is _State.ENDED:
            self.leave_room()
        if not self.waiting.done():
            how(value)

    def leave_room(self) -> None:
        if self.room is not None:
            self.room.leave()


_pools: Final[WeakSet[Threads]] = WeakSet()


_around: Final = contextvars.ContextVar["Threads | None"]("_around", default=None)
"""The threads of the plain function during whose call this code runs, if any."""


class Threads:
    """Threads for at most `most` functions at one time; further functions wait.

    A thread cannot be ended, so a function runs on after a cancellation of its caller. Its place is
    given to the next function, as long as fewer than `most` functions run on like this.

    A function called from such a function runs in a second set of threads. In the first set it
    could wait for a place held by its own caller, for ever.
    """

    def __init__(self, most: int, outermost: Threads | None = None) -> None:
        self._most = most
        self._outermost = outermost or self
        self._rooms = WeakValueDictionary[object, Room]()
        self._places = WeakValueDictionary[asyncio.AbstractEventLoop, Places]()
        _pools.add(self)
        self.forget()

    def forget(self) -> None:
        """Start again without threads: a forked process has none."""
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._idle = self._count = self._left = 0
        self._lock = threading.Lock()

    @cached_property
    def _inner(self) -> Threads:
        return Threads(self._most, self._outermost)

    def room_of(self, peer: object, most: int) -> Room:
        """Return the places of a peer on the running event loop."""
        loop = asyncio.get_running_loop()
        room = self._rooms.get((loop, peer))
        if room is None:
            places = self._places.setdefault(loop, Places(self._most))
            room = self._rooms[loop, peer] = Room(places, most)
        return room

    async def run(
        self,
        room: Room | None,
        function: Callable[..., Any],
        /,
        *args: Any,
        **given: Any,
    ) -> Any:
        """Call a function in a thread, with the caller's context variables; return its result.

        Raises the exceptions of the function.
        """
        # Called from a function in these threads: use the second set, which cannot be full of
        # callers waiting for it.
        if (around := _around.get()) is not None and around._outermost is self:
            return await around._inner.run(None, function, *args, **given)
        if room is not None:
            await room.enter()
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        context.run(_around.set, self)
        call = partial(context.run, function, *args, **given)
        job = _Job(call, loop, loop.create_future(), room)
        with self._lock:
            self._jobs.put(job)
            if self._idle:
                self._idle -= 1
            else:
                self._grow()
        try:
            return await job.waiting
        except asyncio.CancelledError:
            self._leave(job)
            raise

    def _grow(self) -> None:
        if self._count < self._most:
            self._count += 1
            threading.Thread(target=self._work, name="mcp-handler", daemon=True).start()

    def _leave(self, job: _Job) -> None:
        """Give back the place of a job whose caller has gone."""
        with self._lock:
            if job.state is _State.WAITS:
                job.state = _State.DROPPED
            elif job.state is _State.RUNS and self._left < self._most:
                job.state = _State.LEFT
                self._left += 1
                self._count -= 1
                if not self._jobs.empty():
                    self._grow()
            else:
                return
        job.leave_room()

    def _work(self) -> None:
        goes_on = True
        while goes_on:
            job = self._jobs.get()
            settle = _call(job) if self._begin(job) else None
            goes_on = self._end(job)
            if settle is not None and not job.loop.is_closed():
                job.loop.call_soon_threadsafe(settle)

    def _begin(self, job: _Job) -> bool:
        with self._lock:
            if job.state is _State.WAITS:
                job.state = _State.RUNS
            return job.state is _State.RUNS

    def _end(self, job: _Job) -> bool:
        """Finish a job; return False if its thread has no place any more."""
        with self._lock:
            if job.state is _State.LEFT:
                self._left -= 1
                return False
            if job.state is _State.RUNS:
                job.state = _State.ENDED
            if self._jobs.empty():
                self._idle += 1
            return True


def _after_fork() -> None:
    for pool in _pools:
        pool.forget()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)

_of_process: Final = Threads(THREADS)


async def run(function: Callable[..., Any], /, *args: Any, **given: Any) -> Any:
    """Call a function as `Threads.run` does, in threads shared by all clients of the process."""
    return await _of_process.run(None, function, *args, **given)


def _call(job: _Job) -> Callable[[], None]:
    """Run a job; return the callback with which its loop learns the result."""
    failure: BaseException
    try:
        return partial(job.settle, job.waiting.set_result, job.call())
    except (StopIteration, KeyboardInterrupt, GeneratorExit) as error:
        # They would steer a future, the loop or the awaiting coroutine. Ctrl+C interrupts the main
        # thread only: here each is the function's own.
        failure = RuntimeError(f"the function raised {type(error).__name__}")
    except BaseException as error:
        failure = error
    return partial(job.settle, job.waiting.set_exception, failure)
