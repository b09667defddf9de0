"""Stand-in for `fastmcp.server.elicitation`: answers of users."""

from mcp_runtime.compat.context import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
)

__all__ = ["AcceptedElicitation", "CancelledElicitation", "DeclinedElicitation"]
