"""Waits that take too long are cut off, and only those."""

from __future__ import annotations

import asyncio

import pytest

from mcp_runtime.io.cutoff import Cutoff


def test_a_wait_that_takes_too_long_is_cut_off_and_others_are_not() -> None:
    async def main() -> None:
        cutoff, loop = Cutoff(0.1), asyncio.get_running_loop()
        begun = loop.time()
        late = asyncio.create_task(cutoff.wait(asyncio.Event().wait()))
        await asyncio.sleep(0.06)
        later = asyncio.create_task(cutoff.wait(asyncio.Event().wait()))
        quick = asyncio.create_task(cutoff.wait(asyncio.sleep(0.07, "done")))
        with pytest.raises(TimeoutError):
            await late
        assert 0.1 <= loop.time() - begun < 0.16
        assert await quick == "done"
        with pytest.raises(TimeoutError):
            await later
        assert loop.time() - begun >= 0.16

    asyncio.run(main())


def test_what_the_wait_raises_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        asyncio.run(Cutoff(1).wait(fail()))


def test_a_wait_that_is_cut_off_and_cancelled_is_cancelled() -> None:
    async def main() -> None:
        cutoff = Cutoff(0.01)
        waits = asyncio.create_task(cutoff.wait(_slow_to_go()))
        await asyncio.sleep(0.03)  # it is cut off by now, and takes its time
        waits.cancel()
        await asyncio.wait({waits})
        assert waits.cancelled()

    asyncio.run(main())


async def _slow_to_go() -> None:
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.05)


def test_after_a_cutoff_the_task_goes_on_and_nothing_is_kept() -> None:
    async def main() -> None:
        cutoff = Cutoff(0.01)
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await cutoff.wait(asyncio.Event().wait())
            await asyncio.sleep(0)
        assert (cutoff._begun, cutoff._late, cutoff._timer) == ({}, set(), None)

    asyncio.run(main())
