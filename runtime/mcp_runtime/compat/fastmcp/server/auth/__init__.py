"""Stand-in for `fastmcp.server.auth`: how a server checks the tokens of its clients."""

from __future__ import annotations

from typing import Any

from mcp_runtime.compat.aliases import missing_name
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


def __getattr__(name: str) -> Any:
    raise missing_name("fastmcp.server.auth", name)
