"""Stand-in for `mcp.server.auth.provider`: the protocol of token verifiers, and their answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mcp_runtime.compat.auth import AccessToken
from mcp_runtime.compat.elsewhere import lacking


class TokenVerifier(Protocol):
    """Verifies a token; None refuses it."""

    async def verify_token(self, token: str) -> AccessToken | None: ...


__all__ = ["AccessToken", "TokenVerifier"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
