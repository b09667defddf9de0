"""Stand-in for `mcp.server.fastmcp.tools`."""

from mcp_runtime.compat.mcp.server.fastmcp.features import Manager as ToolManager
from mcp_runtime.compat.mcp.server.fastmcp.features import Tool

__all__ = ["Tool", "ToolManager"]
