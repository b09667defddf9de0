"""Stand-in for `fastmcp.server`: servers."""

from mcp_runtime.compat.fastmcp.server.context import Context
from mcp_runtime.compat.fastmcp.server.server import FastMCP

__all__ = ["Context", "FastMCP"]
