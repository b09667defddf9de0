"""Stand-in for `fastmcp.exceptions`."""

from mcp_runtime.compat.errors import (
    AuthorizationError,
    ClientError,
    DisabledError,
    FastMCPError,
    InvalidSignature,
    McpError,
    NotFoundError,
    PromptError,
    ResourceError,
    ToolError,
    ValidationError,
)


class FastMCPDeprecationWarning(DeprecationWarning):
    """A warning, never issued here."""


__all__ = [
    "AuthorizationError",
    "ClientError",
    "DisabledError",
    "FastMCPDeprecationWarning",
    "FastMCPError",
    "InvalidSignature",
    "McpError",
    "NotFoundError",
    "PromptError",
    "ResourceError",
    "ToolError",
    "ValidationError",
]
