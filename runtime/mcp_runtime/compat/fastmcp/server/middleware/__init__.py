"""Stand-in for `fastmcp.server.middleware`."""

from mcp_runtime.compat.fastmcp.server.middleware.middleware import (
    CallNext,
    Middleware,
    MiddlewareContext,
)

__all__ = ["CallNext", "Middleware", "MiddlewareContext"]
