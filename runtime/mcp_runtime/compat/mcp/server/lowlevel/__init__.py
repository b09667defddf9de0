"""Stand-in for `mcp.server.lowlevel`: low-level server."""

from mcp_runtime.compat.mcp.server.lowlevel.server import NotificationOptions, Server

__all__ = ["NotificationOptions", "Server"]
