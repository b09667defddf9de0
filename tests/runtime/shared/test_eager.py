"""A coroutine runs until it waits, and goes on where it is awaited."""

from __future__ import annotations

import asyncio

import pytest

from mcp_runtime.shared.eager import Waiting, begin
from tests.support.virtual_time import elapse


async def _twice(seconds: float) -> str:
    async with asyncio.timeout(10):
        await elapse(seconds)
        await elapse(seconds)
    return "done"


def test_what_does_not_wait_has_ended() -> None:
    async def at_once() -> int:
        return 3

    assert begin(at_once()) == 3


def test_what_is_raised_at_once_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("at once")

    with pytest.raises(ValueError, match="at once"):
        begin(fail())


@pytest.mark.parametrize("seconds", [0, 0.001])
async def test_what_waits_goes_on_in_the_same_task(seconds: float) -> None:
    async def main() -> str:
        rest = begin(_twice(seconds))
        assert isinstance(rest, Waiting)
        return await rest

    assert await main() == "done"


async def test_what_is_raised_after_a_wait_is_raised() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("later")

    async def main() -> None:
        rest = begin(fail())
        assert isinstance(rest, Waiting)
        await rest

    with pytest.raises(ValueError, match="later"):
        await main()


async def test_a_cancellation_arrives_where_the_coroutine_waits() -> None:
    seen: list[str] = []

    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            await asyncio.sleep(0)
            seen.append("cleaned up")
            raise
        return "never"

    async def main() -> None:
        rest = begin(work())
        assert isinstance(rest, Waiting)
        await rest

    task = asyncio.create_task(main())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert seen == ["cancelled", "cleaned up"]


async def test_a_coroutine_that_outlives_its_cancellation_has_a_result() -> None:
    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "went on"

    async def main() -> str:
        rest = begin(work())
        assert isinstance(rest, Waiting)
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().call_soon(task.cancel)
        return await rest

    assert await main() == "went on"
