"""`stdio_server` of `mcp` 1.x."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp_runtime.compat.streams import WireStream
from mcp_runtime.transports.stdio import own_pipes


@asynccontextmanager
async def stdio_server(
    stdin: Any = None, stdout: Any = None
) -> AsyncGenerator[tuple[WireStream, WireStream]]:
    """Take standard input and output for `Server.run`. Raises NotImplementedError for others."""
    if stdin is not None or stdout is not None:
        raise NotImplementedError("stdio_server() serves the standard input and output of Python")
    async with own_pipes() as wire:
        stream = WireStream(wire)
        yield stream, stream
