"""Stand-in for `mcp.server.fastmcp.tools.base`: tools."""

from mcp_runtime.compat.mcp.server.fastmcp.features import Tool

__all__ = ["Tool"]
