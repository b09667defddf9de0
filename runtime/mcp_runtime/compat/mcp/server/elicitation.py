"""Stand-in for `mcp.server.elicitation`: the answers of users to forms and pages."""

from mcp_runtime.compat.context import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
)

AcceptedUrlElicitation = AcceptedElicitation
ElicitationResult = AcceptedElicitation | DeclinedElicitation | CancelledElicitation
UrlElicitationResult = ElicitationResult

__all__ = [
    "AcceptedElicitation",
    "AcceptedUrlElicitation",
    "CancelledElicitation",
    "DeclinedElicitation",
    "ElicitationResult",
    "UrlElicitationResult",
]
