"""Lets a client read an answer sent before the server has read the whole of a large request.

A server that refuses a body may answer at once, and read no more of it. A client that writes the
whole body first then waits for ever, or gets a reset instead of the answer.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import httpcore2

_CONNECTED: Final = (
    ".connect_tcp.complete",
    ".start_tls.complete",
    ".connect_unix_socket.complete",
)
_SMALL: Final = 64 * 1024
"""Bytes a connection takes whether they are read or not."""


async def watch_connections(event: str, info: dict[str, Any]) -> None:
    """Watch a new connection for early answers, as the `trace` extension of a request."""
    if event.endswith(_CONNECTED):
        stream = info["return_value"]
        if not isinstance(stream.write, _EarlyAnswer):
            watch = _EarlyAnswer(stream)
            stream.read, stream.write = watch.read, watch


class _EarlyAnswer:
    """Stands for the `write` of a stream; a large one ends as soon as something comes."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._read = stream.read
        self._write = stream.write
        self._early = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        early, self._early = self._early[:max_bytes], self._early[max_bytes:]
        return early or await self._read(max_bytes, timeout)

    async def __call__(self, buffer: bytes, timeout: float | None = None) -> None:
        """Raise WriteError, after which the answer is read, where one has begun."""
        if len(buffer) <= _SMALL:
            await self._write(buffer, timeout)
            return
        writing = asyncio.ensure_future(self._write(buffer, timeout))
        reading = asyncio.ensure_future(self._read(_SMALL))
        both = (writing, reading)
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            was_written = writing.done()
        finally:
            for task in both:
                task.cancel()
            written, answer = await asyncio.gather(*both, return_exceptions=True)
            self._early = answer if isinstance(answer, bytes) else b""
        if isinstance(written, BaseException) and was_written:
            raise written
        if not was_written:
            raise httpcore2.WriteError("the server has answered before it has read the request")
