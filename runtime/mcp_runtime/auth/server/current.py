"""The token of the HTTP request that started the handler which runs now."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mcp_runtime.auth.server.verifier import VerifiedToken

current_token: Final[ContextVar[VerifiedToken | None]] = ContextVar("current_token", default=None)
"""None where no token was asked for: on standard input and output, or without authorization."""
