"""The peer's high-level server, answering in JSON; with an argument, without sessions."""

import sys

from mcp.server import MCPServer
from plain import serve

server = MCPServer("bench", version="1", log_level="WARNING")


@server.tool()
async def add(a: int, b: int) -> int:
    return a + b


serve(server.streamable_http_app(json_response=True, stateless_http=len(sys.argv) > 1))
