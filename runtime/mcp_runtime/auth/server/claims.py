"""The claims a server reads of a token, from a JWT or from an introspection.

Source: RFC 9068 section 2.2; RFC 7662 section 2.2; RFC 9449 section 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mcp_runtime.auth.server.verifier import InvalidToken, VerifiedToken

_YEAR_10_000: Final = 253_402_300_800.0
"""The first second after the last year of our calendars: a token valid for longer never ends."""


class _Confirmation(msgspec.Struct, frozen=True):
    jkt: str


class Claims(msgspec.Struct, frozen=True):
    """Times are in seconds since 1970. `scp` and `azp` are other names issuers use for `scope` and
    `client_id`. `cnf` binds the token to a key.
    """

    sub: str
    iss: str | None = None
    aud: str | list[str] = []
    exp: float | None = None
    nbf: float = 0.0
    iat: float = 0.0
    scope: str | list[str] = ""
    scp: str | list[str] = ""
    client_id: str = ""
    azp: str = ""
    cnf: _Confirmation | None = None

    @property
    def audience(self) -> frozenset[str]:
        return frozenset([self.aud] if isinstance(self.aud, str) else self.aud)

    @property
    def scopes(self) -> frozenset[str]:
        said = self.scope or self.scp
        return frozenset(said.split() if isinstance(said, str) else said)

    def verified(self, issuer: str, whole: Mapping[str, Any], leeway: float = 0.0) -> VerifiedToken:
        """Return the verified token, after all checks."""
        return VerifiedToken(
            subject=self.sub,
            issuer=issuer,
            client_id=self.client_id or self.azp,
            scopes=self.scopes,
            expires_at=None if self.exp is None else self.exp + leeway,
            key_thumbprint=None if self.cnf is None else self.cnf.jkt,
            claims=whole,
        )


def read_claims(whole: Mapping[str, Any]) -> Claims:
    """Read claims. Raise InvalidToken for claims of other types, for impossible times, and for a
    token bound to a key in an unknown way.
    """
    try:
        claims = msgspec.convert(whole, Claims)
    except (msgspec.ValidationError, OverflowError) as error:
        raise InvalidToken(f"the claims of the token cannot be read: {error}") from None
    for name, seconds in (("exp", claims.exp or 0.0), ("nbf", claims.nbf), ("iat", claims.iat)):
        if not math.isfinite(seconds) or (name == "exp" and seconds >= _YEAR_10_000):
            raise InvalidToken(f"the claims of the token cannot be read: `{name}` is no time")
    return claims
