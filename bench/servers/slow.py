"""A server that is slow to start, as one is whose packages are fetched first: `slow.py SECONDS`."""

import sys
import time

time.sleep(float(sys.argv[1]))

from mcp_runtime.server.server import Server  # noqa: E402 - the wait is before anything else

server = Server("slow", "1")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


@server.tool
async def echo(text: str) -> str:
    return text


server.run()
