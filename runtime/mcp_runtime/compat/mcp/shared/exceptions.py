"""Stand-in for `mcp.shared.exceptions` of `mcp` 1.x."""

from mcp_runtime.compat.errors import MCPError, McpError, UrlElicitationRequiredError

__all__ = ["MCPError", "McpError", "UrlElicitationRequiredError"]
