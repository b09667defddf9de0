"""Connections in memory behave as TCP does: each case runs on both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest

from tests.support.async_tests import run, run_in_real_time
from tests.support.virtual_time import VirtualTimeLoop

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Case = Callable[[Streams, Streams], Awaitable[None]]


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Streams, Streams]]:
    """Both ends of a connection: whose port it is comes second."""
    accepted: asyncio.Queue[Streams] = asyncio.Queue()
    server = await asyncio.start_server(lambda *ends: accepted.put_nowait(ends), "127.0.0.1", 0)
    async with server:
        one = await asyncio.open_connection(*server.sockets[0].getsockname())
        other = await accepted.get()
        try:
            yield one, other
        finally:
            for _, writer in (one, other):
                writer.close()


async def bytes_come_in_order(one: Streams, other: Streams) -> None:
    for number in range(100):
        one[1].write(b"%d " % number)
    other[1].write(b"back")
    one[1].write_eof()
    assert await other[0].read() == b"".join(b"%d " % number for number in range(100))
    assert await one[0].readexactly(4) == b"back"


async def one_direction_may_end_before_the_other(one: Streams, other: Streams) -> None:
    one[1].write_eof()
    assert await other[0].read() == b""
    other[1].write(b"later")
    other[1].close()
    assert await one[0].read() == b"later"


async def who_does_not_read_holds_up_who_writes(one: Streams, other: Streams) -> None:
    one[1].write(b"x" * 30_000_000)
    writing = asyncio.ensure_future(one[1].drain())
    await asyncio.wait({writing}, timeout=0.05)
    assert not writing.done()
    assert len(await other[0].readexactly(30_000_000)) == 30_000_000
    await writing


async def what_was_written_before_a_close_arrives(one: Streams, other: Streams) -> None:
    one[1].write(b"x" * 1_000_000)
    one[1].close()
    assert len(await other[0].read()) == 1_000_000
    await one[1].wait_closed()


async def writes_on(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0)


async def to_write_to_an_end_that_is_gone_breaks_the_connection(
    one: Streams, other: Streams
) -> None:
    other[1].transport.abort()
    assert await one[0].read() == b""
    with pytest.raises(ConnectionError):
        await writes_on(one[1])


async def an_end_that_is_closed_with_bytes_unread_breaks_the_connection(
    one: Streams, other: Streams
) -> None:
    other[1].transport.pause_reading()  # type: ignore[attr-defined]
    await asyncio.sleep(0)
    one[1].write(b"unread")
    await one[1].drain()
    other[1].transport.abort()
    with pytest.raises(ConnectionResetError):
        await one[0].read()


CASES = [
    bytes_come_in_order,
    one_direction_may_end_before_the_other,
    who_does_not_read_holds_up_who_writes,
    what_was_written_before_a_close_arrives,
    to_write_to_an_end_that_is_gone_breaks_the_connection,
    an_end_that_is_closed_with_bytes_unread_breaks_the_connection,
]


async def tried(case: Case) -> None:
    async with connected() as ends:
        await case(*ends)


@pytest.mark.parametrize("runs", [run, run_in_real_time], ids=["in memory", "TCP"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_a_connection(case: Case, runs: Callable[[object], None]) -> None:
    runs(partial(tried, case))


async def refused() -> None:
    async with connected() as (one, _):
        port: int = one[1].get_extra_info("peername")[1]
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    server = await asyncio.start_server(lambda *ends: None, "127.0.0.1", port)
    with pytest.raises(OSError, match="in use"):
        await asyncio.start_server(lambda *ends: None, "127.0.0.1", port)
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("runs", [run, run_in_real_time], ids=["in memory", "TCP"])
def test_a_port_is_refused_once_it_is_closed_and_can_be_opened_again(
    runs: Callable[[object], None],
) -> None:
    runs(refused)


async def test_virtual_time_has_its_connections_in_memory() -> None:
    loop = asyncio.get_running_loop()
    async with connected() as (one, _):
        assert one[1].get_extra_info("peername")[0] == "127.0.0.1"
    assert isinstance(loop, VirtualTimeLoop)
    assert not loop.opened
