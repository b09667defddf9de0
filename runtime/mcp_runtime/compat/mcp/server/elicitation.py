"""Stand-in for `mcp.server.elicitation`: the answers of users to forms and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.context import (
    AcceptedElicitation,
    CancelledElicitation,
    DeclinedElicitation,
)
from mcp_runtime.compat.elsewhere import lacking

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

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
