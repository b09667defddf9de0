"""Stand-in for `mcp.server.fastmcp.exceptions`."""

from mcp_runtime.compat.errors import (
    FastMCPError,
    InvalidSignature,
    ResourceError,
    ToolError,
    ValidationError,
)

__all__ = ["FastMCPError", "InvalidSignature", "ResourceError", "ToolError", "ValidationError"]
