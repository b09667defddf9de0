"""Verifies opaque access tokens by asking their authorization server.

Source: RFC 7662.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_runtime.auth.addresses import require_secure
from mcp_runtime.auth.client.client_authentication import authenticated
from mcp_runtime.auth.client.registered import ClientRegistration
from mcp_runtime.auth.errors import DiscoveryFailed
from mcp_runtime.auth.messages import Fetch, form
from mcp_runtime.auth.server.claims import read_claims
from mcp_runtime.auth.server.key_set import fetch_for
from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken

_MOST_SECONDS = 60.0


class IntrospectionVerifier:
    """Asks the endpoint at `url` as `client_id`, and accepts tokens of `issuer` for `audience`.

    A verdict is kept for `keeps` seconds, at most 60: so long may a token that was revoked be
    accepted. Raises ValueError for more.
    """

    def __init__(
        self,
        url: str,
        *,
        issuer: str,
        audience: str | Sequence[str],
        client_id: str,
        client_secret: str,
        fetch: Fetch | None = None,
        keeps: float = _MOST_SECONDS,
    ) -> None:
        if keeps > _MOST_SECONDS:
            raise ValueError(f"a verdict is kept for at most {_MOST_SECONDS:g} seconds")
        self.keeps: float = keeps
        self._url = require_secure(url, "the introspection endpoint")
        self._issuer = issuer
        self._audience = frozenset([audience] if isinstance(audience, str) else audience)
        self._client = ClientRegistration(
            client_id=client_id, client_secret=client_secret, auth_method="client_secret_basic"
        )
        self._fetch = fetch or fetch_for(url)

    async def verify(self, token: str, /) -> VerifiedToken:
        """Raises InvalidToken, SessionError."""
        fields = {"token": token, "token_type_hint": "access_token"}
        body, headers = authenticated(self._client, fields)
        response = await self._fetch(form(self._url, "asks about a token", body, headers))
        if not response.ok:
            raise DiscoveryFailed(f"the introspection endpoint answers HTTP {response.status}")
        said = response.json("the introspection")
        if said.get("active") is not True:
            raise InvalidToken("the token is not active")
        claims = read_claims(said)
        if not claims.audience & self._audience:
            raise InvalidToken("the token is for another server")
        if claims.iss not in (None, self._issuer):
            raise InvalidToken("the token is from another issuer")
        return claims.verified(self._issuer, said)
