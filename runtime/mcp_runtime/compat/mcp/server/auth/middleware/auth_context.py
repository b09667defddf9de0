"""Stand-in for `mcp.server.auth.middleware.auth_context`: token of the running request."""

from mcp_runtime.compat.auth import AccessToken
from mcp_runtime.compat.auth import access_token as get_access_token

__all__ = ["AccessToken", "get_access_token"]
