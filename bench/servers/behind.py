"""A server of ours that speaks one revision: `behind.py REVISION`."""

import sys

from mcp_runtime.server.server import Server

server = Server("bench", "1", revisions=sys.argv[1:])


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


server.run()
