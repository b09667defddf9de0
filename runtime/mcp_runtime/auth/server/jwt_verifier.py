"""Verifies access tokens in the form of signed JWTs.

Source: RFC 9068; RFC 8725; 2026-07-28 basic/authorization/security-considerations, "Access Token
Privilege Restriction".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from mcp_runtime.auth.messages import Fetch
from mcp_runtime.auth.server.claims import Claims, read_claims
from mcp_runtime.auth.server.key_set import KeySet, fetch_for, usable_keys
from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken
from mcp_runtime.errors import NotInstalled
from mcp_runtime.limits import DEFAULT, Limits

try:
    import jwt
    from cryptography.exceptions import UnsupportedAlgorithm
except ModuleNotFoundError:
    raise NotInstalled("verifying JWTs", "pyjwt[crypto]", "auth") from None

_ALGORITHMS: Final = ("ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256")
_DAY: Final = 86_400.0


class JwtVerifier:
    """Tokens of `issuer` for `audience`, the URI of this server as a resource.

    The keys come from `jwks_uri` by `fetch`, or are given as `keys` (JWKs). `leeway` is in seconds.
    Only asymmetric `algorithms` are accepted, whatever a token's header says. `now` gives seconds
    since 1970. One token costs at most `Limits.key_checks` checks of a signature.

    Raises ValueError for settings without any check.
    """

    keeps: float = _DAY

    def __init__(
        self,
        *,
        issuer: str,
        audience: str | Sequence[str],
        jwks_uri: str | None = None,
        keys: Sequence[Mapping[str, Any]] = (),
        algorithms: Sequence[str] = _ALGORITHMS,
        leeway: float = 30.0,
        fetch: Fetch | None = None,
        now: Callable[[], float] = time.time,
        limits: Limits = DEFAULT,
    ) -> None:
        symmetric = [name for name in algorithms if name == "none" or name.startswith("HS")]
        if symmetric or not algorithms:
            raise ValueError(f"access tokens need asymmetric algorithms, not {symmetric}")
        if not issuer or not audience:
            raise ValueError("a verifier needs the issuer and the audience of its tokens")
        if (jwks_uri is None) == (not keys):
            raise ValueError("give either `jwks_uri` or `keys`")
        self._issuer = issuer
        self._audience = [audience] if isinstance(audience, str) else list(audience)
        self._algorithms = tuple(algorithms)
        self._leeway = leeway
        self._now = now
        self._limits = limits
        self._keys = tuple(keys)
        self._key_set = (
            None if jwks_uri is None else KeySet(jwks_uri, fetch or fetch_for(jwks_uri), now)
        )

    async def verify(self, token: str, /) -> VerifiedToken:
        """Verify a token by its signature and claims. Raises InvalidToken, SessionError."""
        header = self._header(token)
        algorithm = str(header["alg"])
        candidates = await self._candidates(header.get("kid"), algorithm)
        for key in candidates[: self._limits.key_checks]:
            if (whole := self._claims_of(token, key, algorithm)) is not None:
                claims = read_claims(whole)
                self._require_time(claims)
                return claims.verified(self._issuer, whole, self._leeway)
        raise InvalidToken("the signature of the token is wrong")

    def revision(self) -> int:
        """The number of keys the issuer has withdrawn. Verdicts made at a smaller number need a new
        check.
        """
        return 0 if self._key_set is None else self._key_set.revision()

    def _header(self, token: str) -> Mapping[str, Any]:
        most = self._limits.token_chars
        if len(token) > most or not token.isascii():
            limit = f"{most} characters (Limits.token_chars)"
            raise InvalidToken(f"the token is not ASCII, or has over {limit}")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise InvalidToken("the token is not a JWT") from None
        if header.get("alg") not in self._algorithms:
            raise InvalidToken("the token is signed by an algorithm that is not allowed")
        if header.get("crit"):
            raise InvalidToken("the token needs an extension that is not known here")
        if str(header.get("typ", "jwt")).lower() not in ("jwt", "at+jwt", "application/at+jwt"):
            raise InvalidToken("the token is not an access token")
        return header

    async def _candidates(self, key_id: Any, algorithm: str) -> Sequence[Mapping[str, Any]]:
        named = key_id if isinstance(key_id, str) else None
        if self._key_set is not None:
            return await self._key_set.candidates(named, algorithm)
        usable = usable_keys(self._keys, algorithm)
        return [key for key in usable if named is None or key.get("kid", named) == named]

    def _claims_of(
        self, token: str, key: Mapping[str, Any], algorithm: str
    ) -> Mapping[str, Any] | None:
        """Return the claims; None for a signature of another key. Raises InvalidToken for
        others'.
        """
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                jwt.PyJWK(dict(key), algorithm=algorithm),
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=self._leeway,
                options={
                    "require": ["exp", "iss", "aud", "sub"],
                    # The clock is ours: judged below, so that a test can set it.
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except (jwt.InvalidSignatureError, jwt.PyJWKError, jwt.InvalidKeyError):
            return None
        except jwt.InvalidAudienceError:
            ours = " or ".join(self._audience)
            raise InvalidToken(f"the token is for another server than {ours}") from None
        except jwt.InvalidIssuerError:
            raise InvalidToken(f"the token is from another issuer than {self._issuer}") from None
        except jwt.MissingRequiredClaimError as error:
            raise InvalidToken(f"the claims of the token lack {error.claim}") from None
        except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError):
            raise InvalidToken("the claims of the token are not what RFC 9068 says") from None
        return claims

    def _require_time(self, claims: Claims) -> None:
        now = self._now()
        if claims.exp is None or not claims.exp + self._leeway > now:
            raise InvalidToken("the token has expired")
        if not claims.nbf - self._leeway <= now:
            raise InvalidToken("the token is not valid yet")
