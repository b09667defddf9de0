"""The exceptions of `FastMCP`."""

from mcp_runtime.compat.errors import (
    FastMCPError,
    InvalidSignature,
    ResourceError,
    ToolError,
    ValidationError,
)

__all__ = ["FastMCPError", "InvalidSignature", "ResourceError", "ToolError", "ValidationError"]
