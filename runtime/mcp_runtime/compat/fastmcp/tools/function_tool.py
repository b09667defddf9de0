"""Stand-in for `fastmcp.tools.function_tool`: tools."""

from mcp_runtime.compat.fastmcp.tools import FunctionTool, Tool, ToolResult, tool
from mcp_runtime.compat.models import model

TextContent = model("TextContent")

__all__ = ["FunctionTool", "TextContent", "Tool", "ToolResult", "tool"]
