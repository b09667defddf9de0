"""Verifies tokens with the verifiers of `mcp` 1.x and `fastmcp`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp_runtime.auth.server.current import current_token

if TYPE_CHECKING:
    from mcp_runtime.auth.server.bearer import BearerAuth
    from mcp_runtime.auth.server.verifier import VerifiedToken


@dataclass
class AccessToken:
    """A verified token. `token` is empty in handlers, so none is passed on to another service."""

    token: str = ""
    client_id: str = ""
    scopes: list[str] = field(default_factory=list[str])
    expires_at: int | None = None
    resource: str | None = None
    subject: str | None = None
    claims: dict[str, Any] = field(default_factory=dict[str, Any])


class Verifier:
    """A native verifier around `verify_token` of another library."""

    keeps: float = 0.0

    def __init__(self, verifier: Any, issuer: str) -> None:
        self._verifier = verifier
        self._issuer = issuer

    async def verify(self, token: str, /) -> VerifiedToken:
        """Return the verdict. Raises InvalidToken."""
        from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken

        verdict = await self._verifier.verify_token(token)
        if verdict is None:
            raise InvalidToken("the token is not accepted")
        claims = dict(getattr(verdict, "claims", None) or {})
        return VerifiedToken(
            subject=str(
                getattr(verdict, "subject", None) or claims.get("sub") or verdict.client_id
            ),
            issuer=self._issuer,
            client_id=verdict.client_id,
            scopes=frozenset(verdict.scopes),
            expires_at=verdict.expires_at,
            claims=claims,
        )


def bearer_auth(settings: Any, verifier: Any, provider: Any = None) -> BearerAuth | None:
    """Return the native protection of `AuthSettings` and a verifier; None without them.

    Raises NotImplementedError for a server with tokens of its own.
    """
    if provider is not None:
        raise NotImplementedError(
            "auth_server_provider: a server here issues no tokens; give token_verifier, and name"
            " the authorization server in AuthSettings(issuer_url=...)"
        )
    if settings is None or verifier is None:
        return None
    from mcp_runtime.auth.server.bearer import BearerAuth

    issuer = str(settings.issuer_url).rstrip("/")
    return BearerAuth(
        Verifier(verifier, issuer),
        issuer=issuer,
        resource=str(settings.resource_server_url or issuer).rstrip("/"),
        scopes=tuple(settings.required_scopes or ()),
    )


def access_token() -> AccessToken | None:
    """Return the token of the running request; None without authorization."""
    token = current_token.get()
    if token is None:
        return None
    return AccessToken(
        client_id=token.client_id,
        scopes=sorted(token.scopes),
        expires_at=None if token.expires_at is None else int(token.expires_at),
        subject=token.subject,
        claims=dict(token.claims),
    )
