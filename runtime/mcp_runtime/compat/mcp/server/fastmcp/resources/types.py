"""Stand-in for `mcp.server.fastmcp.resources.types`: resources of a text or a file."""

from mcp_runtime.compat.mcp.server.fastmcp.resources import (
    FileResource,
    FunctionResource,
    TextResource,
)

__all__ = ["FileResource", "FunctionResource", "TextResource"]
