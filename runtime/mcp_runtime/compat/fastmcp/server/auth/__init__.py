"""Stand-in for `fastmcp.server.auth`: how a server checks the tokens of its clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.auth.auth import (
    AccessToken,
    AuthProvider,
    RemoteAuthProvider,
    TokenVerifier,
)
from mcp_runtime.compat.fastmcp.server.auth.providers.jwt import JWTVerifier, StaticTokenVerifier

__all__ = [
    "AccessToken",
    "AuthProvider",
    "JWTVerifier",
    "RemoteAuthProvider",
    "StaticTokenVerifier",
    "TokenVerifier",
]


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
