"""Stand-in for `mcp.shared.context`: a request as its handler sees it."""

from mcp_runtime.compat.context import RequestContext

__all__ = ["RequestContext"]
