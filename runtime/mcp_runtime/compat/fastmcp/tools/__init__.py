"""Stand-in for `fastmcp.tools`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.features import Tool, ToolResult

FunctionTool = Tool


def tool(name_or_fn: Any = None, **options: Any) -> Any:
    """Describe a function as a tool, which a server registers with `add_tool`."""
    if callable(name_or_fn):
        return Tool(name_or_fn, **options)

    def describe(function: Callable[..., Any]) -> Tool:
        return Tool(function, **{"name": name_or_fn, **options})

    return describe


__all__ = ["FunctionTool", "Tool", "ToolResult", "tool"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
