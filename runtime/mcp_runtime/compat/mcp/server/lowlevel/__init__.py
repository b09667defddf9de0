"""The low-level server of `mcp` 1.x."""

from mcp_runtime.compat.mcp.server.lowlevel.server import NotificationOptions, Server

__all__ = ["NotificationOptions", "Server"]
