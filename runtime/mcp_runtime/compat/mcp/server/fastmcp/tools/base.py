"""Tools of `FastMCP`."""

from mcp_runtime.compat.mcp.server.fastmcp.features import Tool

__all__ = ["Tool"]
