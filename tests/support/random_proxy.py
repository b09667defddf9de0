"""A loopback proxy that sends each HTTP request to one of several servers, chosen at random."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from random import Random

__all__ = ["random_proxy"]

_HEAD_END = b"\r\n\r\n"


@asynccontextmanager
async def random_proxy(ports: Sequence[int], random: Random) -> AsyncGenerator[int]:
    """The port to connect to. `ports` may change meanwhile; connections end with their request."""

    open_: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await _pass_on(reader, writer, lambda: random.choice(ports))
        finally:
            open_.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
    for task in [*open_]:
        task.cancel()
    await asyncio.gather(*open_, return_exceptions=True)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, choose: Callable[[], int]
) -> None:
    head = await reader.readuntil(_HEAD_END)
    lines = head.removesuffix(_HEAD_END).split(b"\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (x.partition(b":") for x in lines)}
    body = await reader.readexactly(int(fields.get(b"content-length", b"0")))
    kept = [line for line in lines if not line.lower().startswith(b"connection:")]
    there, to_there = await asyncio.open_connection("127.0.0.1", choose())
    to_there.write(b"\r\n".join([*kept, b"Connection: close"]) + _HEAD_END + body)
    gone = asyncio.create_task(_until_gone(reader, to_there))
    try:
        while data := await there.read(65_536):
            writer.write(data)
            await writer.drain()
    finally:
        gone.cancel()
        to_there.close()


async def _until_gone(reader: asyncio.StreamReader, to_there: asyncio.StreamWriter) -> None:
    """Closes the server's side when the client closes its own."""
    with suppress(OSError):
        await reader.read()
    to_there.close()
