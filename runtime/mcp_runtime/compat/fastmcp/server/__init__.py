"""Servers of `fastmcp`."""

from mcp_runtime.compat.fastmcp.server.context import Context
from mcp_runtime.compat.fastmcp.server.server import FastMCP

__all__ = ["Context", "FastMCP"]
