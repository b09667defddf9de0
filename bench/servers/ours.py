"""Our server, as its documentation shows it."""

from mcp_runtime.server.server import Server

server = Server("bench", "1")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


server.run()
