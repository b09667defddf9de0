"""Stand-in for `mcp.server` of `mcp` 1.x."""

from mcp_runtime.compat.mcp.server.fastmcp.server import FastMCP
from mcp_runtime.compat.mcp.server.lowlevel.server import NotificationOptions, Server
from mcp_runtime.compat.mcp.server.models import InitializationOptions

__all__ = ["FastMCP", "InitializationOptions", "NotificationOptions", "Server"]
