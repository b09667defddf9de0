"""Stand-in for `fastmcp.server.auth.providers.jwt`: verifiers of signed and of fixed tokens."""

from __future__ import annotations

import time
from collections.abc import Mapping
from hmac import compare_digest
from typing import TYPE_CHECKING, Any

from mcp_runtime.auth.server.verifier import InvalidToken
from mcp_runtime.compat.auth import AccessToken
from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.auth.auth import TokenVerifier


class StaticTokenVerifier(TokenVerifier):
    """Fixed tokens, for development. `tokens` gives `client_id`, `scopes`, `expires_at` and other
    claims of each.
    """

    def __init__(
        self, tokens: Mapping[str, Mapping[str, Any]], required_scopes: list[str] | None = None
    ) -> None:
        super().__init__(required_scopes=required_scopes)
        self.tokens = {token: dict(claims) for token, claims in tokens.items()}

    async def verify_token(self, token: str) -> AccessToken | None:
        given = token.encode()
        for known, claims in self.tokens.items():
            if compare_digest(known.encode(), given):
                return self._verdict(token, claims)
        return None

    def _verdict(self, token: str, claims: dict[str, Any]) -> AccessToken | None:
        expires_at = claims.get("expires_at")
        if expires_at is not None and expires_at < time.time():
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=list(claims.get("scopes", ())),
            expires_at=expires_at,
            claims=claims,
        )


class JWTVerifier(TokenVerifier):
    """Signed tokens of `issuer` for `audience`; the key is `public_key` (PEM) or at `jwks_uri`.

    Raises ValueError without a key, an issuer or an audience, and for a shared secret.
    """

    def __init__(
        self,
        *,
        public_key: str | None = None,
        jwks_uri: str | None = None,
        issuer: Any = None,
        audience: Any = None,
        algorithm: str | None = None,
        required_scopes: list[str] | None = None,
        base_url: Any = None,
        **_: Any,
    ) -> None:
        super().__init__(base_url, required_scopes)
        from mcp_runtime.auth.server.jwt_verifier import JwtVerifier

        if (public_key is None) == (jwks_uri is None):
            raise ValueError("give either public_key or jwks_uri")
        issuers = [issuer] if isinstance(issuer, str) else list(issuer or ())
        if not issuers or not audience:
            raise ValueError("a verifier needs the issuer and the audience of its tokens")
        name = algorithm or "RS256"
        keys: Any = () if public_key is None else (_jwk(public_key, name),)
        self.natives = [
            JwtVerifier(
                issuer=each, audience=audience, jwks_uri=jwks_uri, keys=keys, algorithms=(name,)
            )
            for each in issuers
        ]

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the content of a token. Raises SessionError if the keys cannot be had now."""
        for native in self.natives:
            try:
                verified = await native.verify(token)
            except InvalidToken:
                continue
            expires_at = verified.expires_at
            return AccessToken(
                token=token,
                client_id=verified.client_id or verified.subject,
                scopes=sorted(verified.scopes),
                expires_at=None if expires_at is None else int(expires_at),
                subject=verified.subject,
                claims=dict(verified.claims),
            )
        return None


def _jwk(public_key: str, algorithm: str) -> dict[str, Any]:
    """Convert a key. Raises ValueError for a shared secret, and for text that is no public key."""
    from jwt import InvalidKeyError, get_algorithm_by_name

    if algorithm.startswith("HS"):
        raise ValueError(f"{algorithm}: access tokens need asymmetric algorithms, such as RS256")
    signing: Any = get_algorithm_by_name(algorithm)
    try:
        key: dict[str, Any] = signing.to_jwk(signing.prepare_key(public_key), as_dict=True)
    except (InvalidKeyError, TypeError, ValueError) as error:
        raise ValueError(f"public_key is no public key in PEM for {algorithm}") from error
    return key


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
