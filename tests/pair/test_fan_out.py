"""One change is announced to many listeners, whichever process each of them is connected to."""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from contextlib import AsyncExitStack

import pytest

from tests.pair.test_several_processes import PER_REQUEST, run, served
from tests.support.asgi_client import BOTH, mirrors, request
from tests.support.redis_server import RedisServer

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


async def _heard(reader: asyncio.StreamReader) -> float:
    await reader.readuntil(b"notifications/resources/updated")
    return time.perf_counter()


@pytest.mark.long
def test_a_change_reaches_1000_listeners_of_two_processes(redis: RedisServer) -> None:
    async def main() -> None:
        async with served(redis.url) as place, AsyncExitStack() as stack:
            client = await stack.enter_async_context(place.client(PER_REQUEST))
            readers: list[asyncio.StreamReader] = []
            for number in range(LISTENERS):
                ports = [*place.processes]
                reader, writer = await _listening(ports[number % len(ports)])
                readers.append(reader)
                stack.callback(writer.close)
            delays = list[float]()
            for _ in range(ROUNDS):
                hearing = [asyncio.create_task(_heard(reader)) for reader in readers]
                await asyncio.sleep(0)
                begin = time.perf_counter()
                await client.call_tool("change", {})
                delays += [at - begin for at in await asyncio.gather(*hearing)]
            assert len(delays) == LISTENERS * ROUNDS
            p50, p99 = (statistics.quantiles(delays, n=100)[at] * 1000 for at in (49, 98))
            who = f"{LISTENERS} listeners of {len(place.processes)} processes"
            sys.stdout.write(f"{who} hear of a change within {p50:.0f} ms, p99 {p99:.0f} ms\n")

    run(main, 300)
