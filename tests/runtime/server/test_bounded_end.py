"""A server on standard input and output ends when its client is gone, whatever its handlers do."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from mcp_runtime import Server
from mcp_runtime.limits import Limits
from mcp_runtime.shared import runner
from mcp_runtime.transports.memory import pair
from tests.support.patience import PATIENCE, eventually
from tests.support.session_pair import NEWEST, request, with_meta
from tests.support.virtual_time import VirtualTimeLoop

SERVER: Final = """
import asyncio
from mcp_runtime import Limits, Server
server = Server("s", "1", limits=Limits(drain_wait=0.3, close_wait=0.3))

@server.tool
async def stubborn(times: int) -> str:
    print("going", file=__import__("sys").stderr, flush=True)
    while times:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            times -= 1
    return ""

server.run()
"""


@pytest.mark.drawn
@pytest.mark.parametrize("times", [1, 2, pytest.param(1_000_000, marks=pytest.mark.pinned)])
def test_a_server_ends_though_a_handler_swallows_its_cancellation(times: int) -> None:
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        arguments = with_meta(NEWEST, {"name": "stubborn", "arguments": {"times": times}})
        process.stdin.write(request(1, "tools/call", arguments) + b"\n")
        process.stdin.flush()
        assert process.stderr.readline() == b"going\n"
        process.stdin.close()
        try:
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


PIPED: Final = """
import asyncio, time
from mcp_runtime import Limits, Server
server = Server("s", "1", limits=Limits(eof_wait=%s))

@server.tool
def plain(seconds: float) -> str:
    time.sleep(seconds)
    return "done"

@server.tool
async def forever() -> str:
    await asyncio.sleep(3600)
    return "done"

server.run()
"""


def piped(*calls: bytes, eof_wait: float) -> list[Any]:
    """What a server answers whose input ends with these calls."""
    process = subprocess.run(
        [sys.executable, "-c", PIPED % eof_wait],
        input=b"".join(call + b"\n" for call in calls),
        stdout=subprocess.PIPE,
        timeout=PATIENCE,
        check=True,
    )
    return [json.loads(line) for line in process.stdout.splitlines()]


def test_calls_that_run_when_the_input_ends_are_answered_while_eof_wait_lasts() -> None:
    plain = {"name": "plain", "arguments": {"seconds": 0.2}}
    calls = [request(id, "tools/call", with_meta(NEWEST, plain)) for id in (1, 2)]
    answers = piped(*calls, eof_wait=30)
    assert sorted(answer["id"] for answer in answers) == [1, 2]
    assert [answer["result"]["content"][0]["text"] for answer in answers] == ["done"] * 2


def test_a_call_that_is_not_over_after_eof_wait_is_not_answered() -> None:
    forever = with_meta(NEWEST, {"name": "forever", "arguments": {}})
    listen = with_meta(NEWEST, {"notifications": {"toolsListChanged": True}})
    calls = [request(1, "tools/call", forever), request(2, "subscriptions/listen", listen)]
    (answer, *more) = [each for each in piped(*calls, eof_wait=0.1) if each.get("method") is None]
    assert (answer["id"], "result" in answer, more) == (2, True, [])


SIGNALLED: Final = """
import asyncio, signal, sys, time
from contextlib import asynccontextmanager
from mcp_runtime import Server

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it

@asynccontextmanager
async def lifespan(server):
    yield
    print("left", file=sys.stderr, flush=True)

server = Server("s", "1", lifespan=lifespan)

@server.tool
async def wait(blocks: bool) -> str:
    print("going", file=sys.stderr, flush=True)
    if blocks:
        time.sleep(3600)
    await asyncio.sleep(3600)
    return ""

server.run()
"""


@contextmanager
def waiting(*, blocks: bool) -> Generator[subprocess.Popen[bytes]]:
    """A process whose one handler waits for an hour; with `blocks` it holds the event loop."""
    command = [sys.executable, "-c", SIGNALLED]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            arguments = with_meta(NEWEST, {"name": "wait", "arguments": {"blocks": blocks}})
            process.stdin.write(request(1, "tools/call", arguments) + b"\n")
            process.stdin.flush()
            assert process.stderr.readline() == b"going\n"
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_the_lifespan_and_ends_the_process_in_good_order(number: int) -> None:
    with waiting(blocks=False) as process:
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b"left\n"


def test_a_second_signal_ends_a_process_whose_loop_is_held() -> None:
    with waiting(blocks=True) as process:

        def has_ended() -> bool:
            process.send_signal(signal.SIGTERM)
            return process.poll() is not None

        eventually(has_ended)
        assert process.returncode == -signal.SIGTERM


class Silent:
    """A client that does not listen."""

    def received(self, chunk: bytes) -> None: ...

    def ended(self) -> None: ...


async def test_the_end_of_a_connection_waits_so_long_and_no_longer() -> None:
    server, going = Server("s", "1", limits=Limits(drain_wait=20)), asyncio.Event()
    released = asyncio.Event()

    @server.tool
    async def stubborn() -> str:
        going.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await released.wait()
        return ""

    loop, (ours, theirs) = asyncio.get_running_loop(), pair()
    serving = asyncio.create_task(server.serve(theirs))
    ours.write(request(1, "tools/call", with_meta(NEWEST, {"name": "stubborn"})) + b"\n")
    ours.start(Silent())
    await going.wait()
    began = loop.time()
    await ours.close()
    await serving
    assert loop.time() - began == 20
    released.set()


def test_a_run_gives_up_tasks_that_ignore_their_cancellation() -> None:
    async def stubborn() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    async def main() -> tuple[str, asyncio.Task[Any]]:
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        return "done", task

    made = list[VirtualTimeLoop]()

    def make() -> VirtualTimeLoop:
        made.append(VirtualTimeLoop())
        return made[0]

    result, task = runner.run(main(), 20, make)
    assert (result, task.done(), made[0].time()) == ("done", False, 20)


def test_a_run_returns_and_raises_what_its_coroutine_does() -> None:
    ended: list[str] = []

    async def lasting() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("lasting")

    async def fail() -> None:
        task = asyncio.create_task(lasting())
        await asyncio.sleep(0)
        raise ValueError(task.get_name())

    with pytest.raises(ValueError, match="Task"):
        runner.run(fail(), 1)
    assert ended == ["lasting"]
