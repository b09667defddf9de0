"""Stand-in for `fastmcp.resources.base`: resources."""

from mcp_runtime.compat.fastmcp.resources import (
    FileResource,
    FunctionResource,
    Resource,
    ResourceContent,
    ResourceResult,
    ResourceTemplate,
    TextResource,
)

__all__ = [
    "FileResource",
    "FunctionResource",
    "Resource",
    "ResourceContent",
    "ResourceResult",
    "ResourceTemplate",
    "TextResource",
]
