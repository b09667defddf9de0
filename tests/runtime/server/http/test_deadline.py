"""Waits that take too long are cut off, and only those."""

from __future__ import annotations

import asyncio

import pytest

from mcp_runtime.server.http.deadline import Deadline
from tests.support.clock import Clock


def test_a_wait_that_takes_too_long_is_cut_off_and_others_are_not() -> None:
    async def main() -> None:
        clock, cutoff, done = Clock(), Deadline(10), asyncio.Event()
        late = asyncio.create_task(cutoff.wait(asyncio.Event().wait()))
        await clock.forward(6)
        later = asyncio.create_task(cutoff.wait(asyncio.Event().wait()))
        quick = asyncio.create_task(cutoff.wait(done.wait()))
        await clock.forward(3)
        assert not late.done()
        await clock.forward(1)
        with pytest.raises(TimeoutError):
            await late
        assert not later.done()
        done.set()
        assert await quick is True
        await clock.forward(6)
        with pytest.raises(TimeoutError):
            await later

    asyncio.run(main())


def test_what_the_wait_raises_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        asyncio.run(Deadline(1).wait(fail()))


def test_a_wait_that_is_cut_off_and_cancelled_is_cancelled() -> None:
    async def main() -> None:
        cut, gone = asyncio.Event(), asyncio.Event()

        async def slow_to_go() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cut.set()
                await gone.wait()

        waits = asyncio.create_task(Deadline(0.01).wait(slow_to_go()))
        await cut.wait()
        waits.cancel()
        await asyncio.wait({waits})
        assert waits.cancelled()

    asyncio.run(main())


def test_after_a_cutoff_the_task_goes_on_and_nothing_is_kept() -> None:
    async def main() -> None:
        cutoff = Deadline(0.01)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await cutoff.wait(asyncio.Event().wait())
            await asyncio.sleep(0)
        assert (cutoff._begun, cutoff._late, cutoff._timer) == ({}, set(), None)

    asyncio.run(main())
