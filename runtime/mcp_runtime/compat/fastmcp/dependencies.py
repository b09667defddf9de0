"""Stand-in for `fastmcp.dependencies`: values of parameters, computed for each call."""

from mcp_runtime.compat.fastmcp.server.dependencies import (
    CurrentAccessToken,
    CurrentContext,
    CurrentFastMCP,
    CurrentHeaders,
    CurrentRequest,
    Depends,
)

__all__ = [
    "CurrentAccessToken",
    "CurrentContext",
    "CurrentFastMCP",
    "CurrentHeaders",
    "CurrentRequest",
    "Depends",
]
