"""Stand-in for `fastmcp.server.auth.auth`: how a server checks the tokens of its clients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from mcp_runtime.auth.server.bearer import BearerAuth
from mcp_runtime.compat.auth import AccessToken, Verifier
from mcp_runtime.compat.elsewhere import lacking

_NOWHERE: Final = "http://localhost:8000"
"""The URI of a server that does not say its own: metadata for clients then names no place."""


class AuthProvider:
    """A check of tokens; `base_url` is the public URL of the server, without its path."""

    def __init__(self, base_url: Any = None, required_scopes: list[str] | None = None) -> None:
        self.base_url = None if base_url is None else str(base_url).rstrip("/")
        self.required_scopes = list(required_scopes or ())

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the content of a token; None refuses it."""
        raise NotImplementedError("a subclass verifies tokens")

    def bearer_auth(self, path: str) -> BearerAuth:
        """Return the native protection; `path` is that of the endpoint.

        Raises DiscoveryFailed for a `base_url` neither https nor on the loopback.
        """
        return self._protection(path, ())

    def _protection(
        self, path: str, issuers: Iterable[str], supported: Iterable[str] | None = None
    ) -> BearerAuth:
        names = [str(each).rstrip("/") for each in issuers]
        resource = f"{self.base_url or _NOWHERE}{path}"
        return BearerAuth(
            Verifier(self, names[0] if names else resource),
            issuer=names,
            resource=resource,
            scopes=tuple(self.required_scopes),
            scopes_supported=supported,
        )


class TokenVerifier(AuthProvider):
    """The base of a server's own check: override `verify_token`."""


class RemoteAuthProvider(AuthProvider):
    """A verifier, and the authorization servers whose tokens it accepts."""

    def __init__(
        self,
        token_verifier: TokenVerifier,
        authorization_servers: list[Any],
        base_url: Any,
        scopes_supported: list[str] | None = None,
        **_: Any,
    ) -> None:
        super().__init__(base_url, token_verifier.required_scopes)
        self.token_verifier = token_verifier
        self.authorization_servers = authorization_servers
        self._supported = scopes_supported

    async def verify_token(self, token: str) -> AccessToken | None:
        return await self.token_verifier.verify_token(token)

    def bearer_auth(self, path: str) -> BearerAuth:
        return self._protection(path, self.authorization_servers, self._supported)


__all__ = ["AccessToken", "AuthProvider", "RemoteAuthProvider", "TokenVerifier"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
