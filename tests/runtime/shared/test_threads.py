"""Plain functions run beside the loop, and none of them keeps the process."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import signal
import subprocess
import sys
import threading
from typing import Final

import pytest

from mcp_runtime.limits import THREADS
from mcp_runtime.shared import threads
from tests.support.async_tests import DEADLINE

WORD: Final = contextvars.ContextVar("WORD", default="none")


async def test_a_function_runs_in_another_thread_and_sees_the_callers_context() -> None:
    WORD.set("here")
    word, thread = await threads.run(lambda: (WORD.get(), threading.current_thread().name))
    assert word == "here"
    assert thread != threading.main_thread().name


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit("stop")])
async def test_what_a_function_raises_is_raised_to_its_caller(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        await threads.run(fail)


@pytest.mark.parametrize("error", [StopIteration, KeyboardInterrupt, GeneratorExit])
async def test_a_function_that_raises_what_steers_a_loop_does_not_stop_it(
    error: type[BaseException],
) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(RuntimeError, match=f"the function raised {error.__name__}"):
        await threads.run(fail)


async def test_as_many_run_at_once_as_there_are_threads_and_the_rest_comes_after() -> None:
    seen: list[int] = []
    running, most = 0, 0
    lock, pair = threading.Lock(), threading.Barrier(2)

    def work(number: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        pair.wait(DEADLINE)
        with lock:
            running -= 1
            seen.append(number)

    await asyncio.gather(*(threads.run(work, number) for number in range(4 * THREADS)))
    assert sorted(seen) == list(range(4 * THREADS))
    assert 1 < most <= THREADS


async def test_the_limit_of_threads_is_reached_and_the_next_function_waits_for_an_end() -> None:
    begun, end = threading.Semaphore(0), threading.Semaphore(0)
    seen: list[str] = []

    def work() -> bool:
        seen.append("begun")
        begun.release()
        ended = end.acquire(timeout=DEADLINE)
        seen.append("ended")
        end.release()
        return ended

    runs = [asyncio.ensure_future(threads.run(work)) for _ in range(THREADS + 1)]
    for _ in range(THREADS):
        assert await asyncio.to_thread(begun.acquire, timeout=DEADLINE)
    end.release()
    assert await asyncio.gather(*runs) == [True] * (THREADS + 1)
    assert seen[: THREADS + 1] == ["begun"] * THREADS + ["ended"]
    assert seen.count("begun") == THREADS + 1


async def test_a_caller_that_is_cancelled_leaves_the_function_behind() -> None:
    begun, end, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        end.wait(DEADLINE)
        ended.set()

    caller = asyncio.ensure_future(threads.run(work))
    assert await asyncio.to_thread(begun.wait, DEADLINE)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not ended.is_set()
    end.set()
    assert await asyncio.to_thread(ended.wait, DEADLINE)


def test_a_function_that_hangs_does_not_keep_a_server_whose_client_is_gone() -> None:
    """The server ends long before the function would."""
    program = (
        "import time\n"
        "from mcp_runtime import Server\n"
        "server = Server('s', '1')\n"
        "@server.tool\n"
        "def hang() -> str:\n"
        "    time.sleep(60)\n"
        "    return ''\n"
        "server.run()\n"
    )
    client = '{"name": "c", "version": "1"}'
    params = f'{{"protocolVersion": "2025-11-25", "capabilities": {{}}, "clientInfo": {client}}}'
    lines = (
        f'{{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {params}}}\n'
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "hang"}}\n'
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=lines.encode(), capture_output=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    assert b'"id":1' in done.stdout


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
async def test_a_forked_process_begins_without_the_threads_of_its_parent() -> None:
    await threads.run(int)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_run_one)
    child.start()
    child.join(90)
    assert child.exitcode == 0, "the function waited for a thread that the child does not have"


def _run_one() -> None:
    signal.alarm(60)
    asyncio.run(threads.run(int))
