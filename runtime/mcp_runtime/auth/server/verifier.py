"""What a token says once it was verified, and who verifies it.

Source: 2026-07-28 basic/authorization/security-considerations, "Token Audience Binding and
Validation"; OAuth 2.1 section 5.2.
"""

from __future__ import annotations

import hashlib
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any, Final, Protocol, TextIO

from mcp_runtime.errors import texts

PROOF_AGE: Final = 300.0
"""Seconds by which the time of a proof may differ from ours."""
_CACHED: Final = 10_000
"""Verdicts that are kept at one time."""


class InvalidToken(Exception):
    """The token is not for us, not valid any more, or was never valid. The text has no secret."""


class InvalidProof(Exception):
    """A proof does not show that the sender holds the key that the token is bound to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedToken:
    """Who asks, and what they may do. `claims` is all that the token or its issuer says.

    `expires_at` is in seconds since 1970, None for never. `key_thumbprint` is that of the key
    which the token is bound to, None for a bearer token. Raises ValueError if `scopes` is one text.
    """

    subject: str
    issuer: str
    client_id: str = ""
    scopes: frozenset[str] = frozenset()
    expires_at: float | None = None
    key_thumbprint: str | None = None
    claims: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scopes", frozenset(texts("scopes", self.scopes)))

    @property
    def principal(self) -> str:
        """Who asks, as one text that no other subject and no other issuer has."""
        return f"{len(self.issuer)}:{self.issuer}:{self.subject}"


class TokenVerifier(Protocol):
    """Says who a token belongs to. Raises InvalidToken; SessionError where nobody can say it now.

    `keeps` is for how many seconds a verdict holds at most.
    """

    keeps: float

    async def verify(self, token: str, /) -> VerifiedToken: ...


class StaticVerifier:
    """Fixed tokens, for development: whoever knows one is its subject.

    Says on standard error that it is no protection.
    """

    keeps: float = 0.0

    def __init__(
        self, tokens: Mapping[str, VerifiedToken], *, stderr: TextIO | None = None
    ) -> None:
        self._tokens = {token.encode(): verified for token, verified in tokens.items()}
        print(
            "mcp-bindgen: fixed tokens are in use, which are for development only",
            file=stderr or sys.stderr,
        )

    async def verify(self, token: str, /) -> VerifiedToken:
        given = token.encode()
        matches = [v for known, v in self._tokens.items() if compare_digest(known, given)]
        if not matches:
            raise InvalidToken("the token is not known")
        return matches[0]


class CachedVerifier:
    """Remembers verdicts: a token's until it expires, at most for as long as its verifier says.

    Tokens themselves are not kept, only their SHA-256. `now` gives seconds since 1970.
    """

    def __init__(self, verifier: TokenVerifier, now: Callable[[], float]) -> None:
        self._verifier = verifier
        self._now = now
        self._known: OrderedDict[bytes, tuple[float, VerifiedToken]] = OrderedDict()

    async def verify(self, token: str) -> VerifiedToken:
        """Raises InvalidToken, SessionError."""
        name = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        now = self._now()
        if (kept := self._known.get(name)) is not None and kept[0] > now:
            return kept[1]
        self._known.pop(name, None)
        verified = await self._verifier.verify(token)
        if verified.expires_at is not None and verified.expires_at <= now:
            raise InvalidToken("the token has expired")
        self._keep(name, verified, now)
        return verified

    def _keep(self, name: bytes, verified: VerifiedToken, now: float) -> None:
        until = now + self._verifier.keeps
        if verified.expires_at is not None:
            until = min(until, verified.expires_at)
        if until > now:
            if len(self._known) >= _CACHED:
                self._known.popitem(last=False)
            self._known[name] = until, verified
