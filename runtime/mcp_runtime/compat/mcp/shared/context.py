"""The description of a request."""

from mcp_runtime.compat.context import RequestContext

__all__ = ["RequestContext"]
