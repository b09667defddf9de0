"""The peer's high-level server, as its documentation shows it."""

from mcp.server import MCPServer

server = MCPServer("bench", version="1")


@server.tool()
async def add(a: int, b: int) -> int:
    return a + b


server.run()
