"""The content of a verified token, and its verifiers.

Source: 2026-07-28 basic/authorization/security-considerations, "Token Audience Binding and
Validation"; OAuth 2.1 section 5.2.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any, Final, Generic, Protocol, TextIO, TypeVar, runtime_checkable

from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.option_checks import texts

PROOF_AGE: Final = 300.0
"""Seconds by which the time of a proof may differ from ours."""
_CACHED: Final = 10_000
"""Verdicts kept at one time, and as many refusals."""


class InvalidToken(Exception):
    """The token is not for us, not valid any more, or was never valid. The text has no secret."""


class InvalidProof(Exception):
    """A proof does not show possession of the key the token is bound to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedToken:
    """The sender of a request and its rights. `claims` are all claims of the token or its issuer.

    `expires_at` is in seconds since 1970, None for never. `key_thumbprint` is of the key the token
    is bound to, None for a bearer token. Raises ValueError if `scopes` is one text, or if
    `expires_at` is NaN.
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
        if self.expires_at is not None and math.isnan(self.expires_at):
            raise ValueError("expires_at is NaN, a time that never comes")

    @property
    def principal(self) -> str:
        """The subject and its issuer in one text, which no other subject or issuer has."""
        return f"{len(self.issuer)}:{self.issuer}:{self.subject}"


class TokenVerifier(Protocol):
    """Says who a token belongs to. Raises InvalidToken; SessionError where nobody can say it now.

    `keeps` is for how many seconds a verdict holds at most.
    """

    keeps: float

    async def verify(self, token: str, /) -> VerifiedToken: ...


@runtime_checkable
class RevisingVerifier(TokenVerifier, Protocol):
    """A verifier able to take verdicts back before they end."""

    def revision(self) -> int:
        """Return a number that changes when a key is withdrawn: earlier verdicts need a new check.

        Every use of a verdict reads this number, so it must not wait.
        """
        ...


class StaticVerifier:
    """Fixed tokens, for development: whoever knows one is its subject.

    Warns on standard error, since it is no protection.
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


_Said = TypeVar("_Said", VerifiedToken, InvalidToken)


@dataclass(frozen=True, slots=True)
class _Verdict(Generic[_Said]):
    """The verdict on a token: its verified content, or the reason of a refusal; valid `until` a
    time.
    """

    said: _Said
    until: float
    revision: int


class CachedVerifier:
    """Remembers verdicts: a token's until it expires, at most for as long as its verifier says.

    A refusal is remembered for `Limits.refused_age`. Simultaneous requests with the same token wait
    for one check of it. Tokens themselves are not kept, only their SHA-256. `now` gives seconds
    since 1970.
    """

    def __init__(
        self, verifier: TokenVerifier, now: Callable[[], float], limits: Limits = DEFAULT
    ) -> None:
        self._verifier = verifier
        self._revision: Callable[[], int] = (
            verifier.revision if isinstance(verifier, RevisingVerifier) else lambda: 0
        )
        self._now = now
        self._limits = limits
        self._known: OrderedDict[bytes, _Verdict[VerifiedToken]] = OrderedDict()
        self._refused: OrderedDict[bytes, _Verdict[InvalidToken]] = OrderedDict()
        self._checks: dict[bytes, asyncio.Task[VerifiedToken]] = {}

    async def verify(self, token: str) -> VerifiedToken:
        """Return the verdict on a token. Raises InvalidToken, SessionError."""
        if len(token) > self._limits.token_chars:
            limit = f"{self._limits.token_chars} characters (Limits.token_chars)"
            raise InvalidToken(f"the token has over {limit}")
        name = hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
        known = self._known.get(name)
        if known is not None:
            if known.until > self._now() and known.revision == self._revision():
                return known.said
            del self._known[name]
        elif (refused := self._refused.get(name)) is not None:
            if refused.until > self._now() and refused.revision == self._revision():
                raise InvalidToken(str(refused.said))  # a new one: an exception keeps its frames
            del self._refused[name]
        check = self._checks.get(name)
        if check is None or check.get_loop() is not asyncio.get_running_loop():
            check = asyncio.create_task(self._check(name, token))
            self._checks[name] = check
            check.add_done_callback(lambda ended: self._forget_check(name, ended))
        return await asyncio.shield(check)

    async def _check(self, name: bytes, token: str) -> VerifiedToken:
        """Ask the verifier, and keep the verdict. A check outlives a caller that gives up."""
        now, revision = self._now(), self._revision()
        try:
            verified = await self._verifier.verify(token)
            if verified.expires_at is not None and verified.expires_at <= now:
                raise InvalidToken("the token has expired")
        except InvalidToken as error:
            until = self._now() + self._limits.refused_age
            refusal = InvalidToken(str(error))
            self._keep(self._refused, name, _Verdict(refusal, until, self._revision()))
            raise
        until = now + self._verifier.keeps
        if verified.expires_at is not None:
            until = min(until, verified.expires_at)
        self._keep(self._known, name, _Verdict(verified, until, revision))
        return verified

    def _keep(
        self, table: OrderedDict[bytes, _Verdict[_Said]], name: bytes, verdict: _Verdict[_Said]
    ) -> None:
        if verdict.until > self._now():
            if len(table) >= _CACHED:
                table.popitem(last=False)
            table[name] = verdict

    def _forget_check(self, name: bytes, check: asyncio.Task[VerifiedToken]) -> None:
        if self._checks.get(name) is check:
            del self._checks[name]
        if not check.cancelled():
            check.exception()  # each waiter has it; without this asyncio would complain
