"""One change is announced to many listeners, whichever process each of them is connected to.

Beside it the same number of connections subscribes to the Redis that the processes share.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack

import pytest

from tests.support.asgi_client import BOTH, mirrors, request
from tests.support.async_tests import run_in_real_time
from tests.support.redis_server import RedisServer
from tests.support.served_processes import PER_REQUEST, served

LISTENERS = 1_000
ROUNDS = 20


async def _listening(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection whose subscription the server has acknowledged."""
    wanted = {"notifications": {"resourceSubscriptions": ["note://one"]}}
    asked = request("subscriptions/listen", wanted)
    body = json.dumps(asked)
    headers = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": BOTH,
        "Content-Length": str(len(body)),
        **mirrors(asked),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n{body}".encode())
    await reader.readuntil(b"notifications/subscriptions/acknowledged")
    return reader, writer


async def _subscribed(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to Redis that has subscribed to a channel."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"SUBSCRIBE beside\r\n")
    await reader.readuntil(b":1\r\n")
    return reader, writer


async def _delays(
    readers: Sequence[asyncio.StreamReader], until: bytes, change: Callable[[], Awaitable[object]]
) -> list[float]:
    """Seconds from a change until each reader has heard of it."""

    async def heard(reader: asyncio.StreamReader) -> float:
        await reader.readuntil(until)
        return time.perf_counter()

    hearing = [asyncio.create_task(heard(reader)) for reader in readers]
    await asyncio.sleep(0)
    begin = time.perf_counter()
    await change()
    return [at - begin for at in await asyncio.gather(*hearing)]


def _milliseconds(delays: Sequence[float]) -> tuple[float, float]:
    """The median, and the 99th percentile."""
    percentiles = statistics.quantiles(delays, n=100)
    return percentiles[49] * 1000, percentiles[98] * 1000


@pytest.mark.long
def test_a_change_reaches_1000_listeners_of_two_processes(redis: RedisServer) -> None:
    async def main() -> None:
        async with served(redis.url, 2) as place, AsyncExitStack() as stack:
            client = await stack.enter_async_context(place.client(PER_REQUEST))
            publisher = (await asyncio.open_connection("127.0.0.1", redis.port))[1]
            stack.callback(publisher.close)
            readers, beside = list[asyncio.StreamReader](), list[asyncio.StreamReader]()
            for number in range(LISTENERS):
                ports = [*place.processes]
                reader, writer = await _listening(ports[number % len(ports)])
                readers.append(reader)
                stack.callback(writer.close)
                reader, writer = await _subscribed(redis.port)
                beside.append(reader)
                stack.callback(writer.close)

            async def publish() -> None:
                publisher.write(b"PUBLISH beside changed\r\n")

            async def change() -> None:
                await client.call_tool("change", {})

            ours, theirs = list[float](), list[float]()
            for _ in range(ROUNDS):
                ours += await _delays(readers, b"notifications/resources/updated", change)
                theirs += await _delays(beside, b"changed\r\n", publish)
            assert len(ours) == len(theirs) == LISTENERS * ROUNDS
            (p50, p99), (median, last) = _milliseconds(ours), _milliseconds(theirs)
            who = f"{LISTENERS} listeners of {len(place.processes)} processes"
            ratios = f"{p50 / median:.1f} times as long, p99 {p99 / last:.1f} times"
            sys.stdout.write(f"{who} hear of a change within {p50:.0f} ms, p99 {p99:.0f} ms\n")
            sys.stdout.write(f"beside as many subscribers of Redis alone: {ratios}\n")

    run_in_real_time(main, 300)
