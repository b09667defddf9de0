"""Tests that are coroutines: what runs them, and what their clock is."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, strategies

from mcp_runtime.shared.threads import Threads
from tests.support import async_tests, virtual_time
from tests.support.async_tests import run, run_in_real_time
from tests.support.virtual_time import Stuck, VirtualTimeLoop, elapse

WHILE: float = 0.05
"""Seconds that a thread takes for real."""


def takes_time() -> str:
    threading.Event().wait(WHILE)
    return "from a thread"


# ---- the clock


async def test_a_timeout_of_30_s_costs_nothing_and_is_exact() -> None:
    loop = asyncio.get_running_loop()
    assert loop.time() == 0
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(30):
            await asyncio.Event().wait()
    assert loop.time() == 30


@pytest.mark.parametrize("seconds", [1e-9, 0.1, 0.3, 86_400 * 365])
async def test_the_clock_is_exactly_at_the_timer_that_fires(seconds: float) -> None:
    await elapse(seconds)
    assert asyncio.get_running_loop().time() == seconds


async def test_timers_fire_in_their_order_and_a_cancelled_one_does_not() -> None:
    loop, fired = asyncio.get_running_loop(), list[tuple[str, float]]()
    for name, at in [("third", 3), ("first", 1), ("second", 2), ("never", 1.5)]:
        timer = loop.call_later(at, lambda name=name: fired.append((name, loop.time())))
        if name == "never":
            timer.cancel()
    await elapse(10)
    assert fired == [("first", 1), ("second", 2), ("third", 3)]


async def test_what_is_ready_runs_before_the_clock_moves() -> None:
    loop, steps = asyncio.get_running_loop(), 0
    loop.call_later(0.001, lambda: None)
    for _ in range(1000):
        await asyncio.sleep(0)
        steps += 1
    assert (steps, loop.time()) == (1000, 0)


async def test_the_time_of_day_moves_with_the_clock() -> None:
    before = time.time()
    await elapse(3600)
    assert time.time() == before + 3600


async def test_the_time_of_day_of_other_threads_and_loops_is_real() -> None:
    day = time.time() + 86_400
    await elapse(86_400)
    assert time.time() >= day > await asyncio.to_thread(time.time)


@given(strategies.floats(min_value=1e-9, max_value=1e9))
async def test_each_example_of_a_random_test_has_a_clock_of_its_own(seconds: float) -> None:
    assert asyncio.get_running_loop().time() == 0
    await elapse(seconds)
    assert asyncio.get_running_loop().time() == seconds


@pytest.mark.real_time
async def test_a_test_of_real_time_has_an_ordinary_loop() -> None:
    assert not isinstance(asyncio.get_running_loop(), VirtualTimeLoop)
    with pytest.raises(AssertionError):
        await elapse(1)


# ---- what is not ours


@pytest.mark.parametrize("way", ["to_thread", "pool", "runtime", "thread"])
async def test_a_thread_is_waited_for_and_the_clock_stands(way: str) -> None:
    loop = asyncio.get_running_loop()
    late = loop.call_later(0.001, lambda: None)
    done = loop.create_future()
    with ThreadPoolExecutor(1) as pool:
        match way:
            case "to_thread":
                said = await asyncio.to_thread(takes_time)
            case "pool":
                said = await loop.run_in_executor(pool, takes_time)
            case "runtime":
                said = await Threads(1).run(None, takes_time)
            case "thread":
                report = lambda: loop.call_soon_threadsafe(done.set_result, takes_time())  # noqa: E731
                (thread := threading.Thread(target=report)).start()
                said = await done
                thread.join()
    assert (said, loop.time(), late.cancelled()) == ("from a thread", 0, False)
    await elapse(30)
    assert loop.time() == 30


async def test_a_thread_that_ends_between_two_looks_is_heard_before_the_clock_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    answer = loop.create_future()

    def ends_while_threads_are_counted() -> list[str]:
        monkeypatch.undo()
        thread = threading.Thread(
            target=loop.call_soon_threadsafe, args=(answer.set_result, "from a thread")
        )
        thread.start()
        thread.join()
        return []

    monkeypatch.setattr(loop, "workers", ends_while_threads_are_counted)
    async with asyncio.timeout(30):
        assert await answer == "from a thread"
    assert loop.time() == 0


async def test_idle_threads_do_not_stop_the_clock() -> None:
    pool, loop = Threads(2), asyncio.get_running_loop()
    await asyncio.gather(*(pool.run(None, takes_time) for _ in range(3)))
    await asyncio.to_thread(takes_time)
    await elapse(30)
    assert loop.time() == 30


async def test_a_plain_function_whose_caller_has_gone_does_not_stop_the_clock() -> None:
    end, began, pool = threading.Event(), threading.Event(), Threads(1)

    def runs_on() -> None:
        began.set()
        end.wait()

    left = asyncio.ensure_future(pool.run(None, runs_on))
    await asyncio.to_thread(began.wait)
    left.cancel()
    await elapse(30)
    end.set()
    assert await pool.run(None, takes_time) == "from a thread"


async def waits_for_a_thread_for_ever() -> None:
    with ThreadPoolExecutor(1) as pool:
        end = threading.Event()
        try:
            await asyncio.get_running_loop().run_in_executor(pool, end.wait)
        finally:
            end.set()


def test_a_thread_that_never_ends_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_time, "REAL_SECONDS", WHILE)
    with pytest.raises(Stuck, match=r"nothing came of .*executor"):
        run(waits_for_a_thread_for_ever)


async def opens_a_socket() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    server = await asyncio.start_server(lambda reader, writer: writer.close(), sock=listening)
    async with server:
        address: tuple[str, int] = server.sockets[0].getsockname()
        _, writer = await asyncio.open_connection(*address)
        writer.close()
        await writer.wait_closed()


def test_what_opens_a_socket_is_told_to_use_real_time() -> None:
    with pytest.raises(AssertionError, match="mark the test real_time"):
        run(opens_a_socket)
    run_in_real_time(opens_a_socket)


async def test_two_ends_of_a_pair_in_memory_are_no_sockets() -> None:
    one, other = socket.socketpair()
    with one, other:
        one.send(b"a")
        assert other.recv(1) == b"a"


# ---- what cannot end


async def waits_for_ever() -> None:
    await asyncio.Event().wait()


async def waits_with_others() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(waits_for_ever(), name="the other")


def test_a_deadlock_is_named_with_every_task_and_its_place() -> None:
    with pytest.raises(Stuck, match="no timer is set") as failure:
        run(waits_with_others)
    assert re.search(
        r"the other .*waits_for_ever \(.*test_virtual_time.py:\d+\)", str(failure.value)
    )
    assert re.search(r"waits_with_others \(.*test_virtual_time.py:\d+\)", str(failure.value))


async def asks_for_ever() -> None:
    while True:
        await asyncio.sleep(0)


async def asks_again_and_again() -> None:
    while True:
        await elapse(30)


@pytest.mark.parametrize("main", [asks_for_ever, asks_again_and_again])
def test_what_goes_in_circles_is_ended_and_named(
    main: Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(virtual_time, "REAL_SECONDS", WHILE)
    with pytest.raises(Stuck, match=f"processor are used up(?s:.*){main.__name__}"):
        run(main)


def test_real_time_gives_up_and_says_what_was_awaited() -> None:
    with pytest.raises(
        AssertionError, match=r"gave up(?s:.*)waits_with_others(?s:.*)waits_for_ever"
    ):
        run_in_real_time(waits_with_others, WHILE)


# ---- what is left behind


left: list[asyncio.Task[None]] = []


async def leaves_a_task() -> None:
    left[:] = [asyncio.create_task(waits_for_ever(), name="left alone")]


async def leaves_a_task_that_soon_ends() -> None:
    left[:] = [asyncio.create_task(asyncio.sleep(0.01))]


RUNS = pytest.mark.parametrize("runs", [run, run_in_real_time])


@RUNS
def test_a_task_that_is_left_behind_fails_the_test(
    runs: Callable[[object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(async_tests, "PATIENCE", WHILE)
    with pytest.raises(AssertionError, match=r"left behind(?s:.*)left alone .*waits_for_ever"):
        runs(leaves_a_task)
    assert left[0].cancelled()


@RUNS
def test_a_task_that_ends_soon_after_is_not_left_behind(runs: Callable[[object], None]) -> None:
    runs(leaves_a_task_that_soon_ends)
    assert left[0].done()


@RUNS
def test_generators_and_the_loop_are_closed(runs: Callable[[object], None]) -> None:
    ends = list[str]()
    loops = list[asyncio.AbstractEventLoop]()

    async def numbers() -> object:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            ends.append("closed")

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        kept.append(numbers())
        await anext(kept[0])

    kept = list[object]()
    runs(main)
    assert ends == ["closed"]
    assert loops[0].is_closed()


@RUNS
def test_what_a_test_raises_is_raised(runs: Callable[[object], None]) -> None:
    async def main() -> None:
        pytest.fail("on purpose")

    with pytest.raises(pytest.fail.Exception, match="on purpose"):
        runs(main)
