"""Plain functions run beside the loop, and none of them keeps the process."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from typing import Final

import pytest

from mcp_runtime.limits import THREADS
from mcp_runtime.shared import threads

WORD: Final = contextvars.ContextVar("WORD", default="none")


def test_a_function_runs_in_another_thread_and_sees_the_callers_context() -> None:
    async def main() -> tuple[str, str]:
        WORD.set("here")
        return await threads.run(lambda: (WORD.get(), threading.current_thread().name))

    word, thread = asyncio.run(main())
    assert word == "here"
    assert thread != threading.main_thread().name


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit("stop")])
def test_what_a_function_raises_is_raised_to_its_caller(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        asyncio.run(threads.run(fail))


@pytest.mark.parametrize("error", [StopIteration, KeyboardInterrupt, GeneratorExit])
def test_a_function_that_raises_what_steers_a_loop_does_not_stop_it(
    error: type[BaseException],
) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(RuntimeError, match=f"the function raised {error.__name__}"):
        asyncio.run(threads.run(fail))


def test_as_many_run_at_once_as_there_are_threads_and_the_rest_comes_after() -> None:
    seen: list[int] = []
    running, most = 0, 0
    lock = threading.Lock()

    def work(number: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.005)
        with lock:
            running -= 1
            seen.append(number)

    async def main() -> None:
        await asyncio.gather(*(threads.run(work, number) for number in range(5 * THREADS)))

    asyncio.run(main())
    assert sorted(seen) == list(range(5 * THREADS))
    assert 1 < most <= THREADS


def test_the_limit_of_threads_is_reached_and_the_next_function_waits_for_one_that_ends() -> None:
    begun, end = threading.Semaphore(0), threading.Event()

    def work() -> bool:
        begun.release()
        return end.wait(10)

    async def main() -> list[bool]:
        runs = [asyncio.ensure_future(threads.run(work)) for _ in range(THREADS + 1)]
        for _ in range(THREADS):
            assert await asyncio.to_thread(begun.acquire, timeout=10)
        assert not await asyncio.to_thread(begun.acquire, timeout=0.1)
        end.set()
        return await asyncio.gather(*runs)

    assert asyncio.run(main()) == [True] * (THREADS + 1)


def test_a_caller_that_is_cancelled_leaves_the_function_behind() -> None:
    ended = threading.Event()

    async def main() -> None:
        def work() -> None:
            time.sleep(0.05)
            ended.set()

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(threads.run(work), 0.01)

    asyncio.run(main())
    assert ended.wait(5)


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
        [sys.executable, "-c", program], input=lines.encode(), capture_output=True, timeout=30
    )
    assert done.returncode == 0, done.stderr
    assert b'"id":1' in done.stdout


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_begins_without_the_threads_of_its_parent() -> None:
    asyncio.run(threads.run(int))  # leaves a thread that waits for the next function
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_run_one)
    child.start()
    child.join(90)
    assert child.exitcode == 0, "the function waited for a thread that the child does not have"


def _run_one() -> None:
    signal.alarm(60)
    asyncio.run(threads.run(int))
