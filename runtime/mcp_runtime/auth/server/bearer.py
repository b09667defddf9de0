"""A server as a protected resource: verifies the token of each request, and challenges the others.

    Server("files", auth=BearerAuth(
        JwtVerifier(issuer=issuer, audience=resource, jwks_uri=f"{issuer}/jwks"),
        issuer=issuer,
        resource=resource,
        scopes=("files:read",),
    ))

Source: 2026-07-28 basic/authorization; RFC 6750 section 3; RFC 9728; RFC 9449 section 7.1.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from mcp_runtime.auth.addresses import origin, require_secure
from mcp_runtime.auth.challenge import write_challenge
from mcp_runtime.auth.server.verifier import (
    CachedVerifier,
    InvalidProof,
    InvalidToken,
    TokenVerifier,
    VerifiedToken,
)
from mcp_runtime.limits import DEFAULT, Limits
from mcp_runtime.option_checks import texts

if TYPE_CHECKING:
    from mcp_runtime.auth.server.proof import ProofVerifier

_MAX_SHOWN: Final = 200
_WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


class AccessDenied(Exception):
    """The request is answered with `status` (401 or 403) and this challenge."""

    def __init__(self, status: int, message: str, challenge: str) -> None:
        super().__init__(message)
        self.status = status
        self.challenge = challenge


class BearerAuth:
    """Lets in requests whose token `verifier` accepts, with all of `scopes`.

    `resource` is the URI of this server, for which tokens must be issued. `issuer` names the
    authorization servers issuing them. `scopes_supported` are those the metadata names, by default
    `scopes`. `includes` gives the narrow scopes of a broad one, as in `{"files": ["files:read",
    "files:write"]}`.

    `dpop` refuses tokens without a key; a token bound to a key is accepted only with a proof,
    whatever `dpop` says. `now` gives seconds since 1970. `limits` bound the tokens (`token_chars`),
    the memory of refused ones (`refused_age`), and the proofs (`proofs`).

    Raises DiscoveryFailed for addresses neither https nor on the loopback, ValueError for
    `offline_access` among the scopes, which is between a client and its authorization server.
    """

    def __init__(
        self,
        verifier: TokenVerifier,
        *,
        issuer: str | Sequence[str],
        resource: str,
        scopes: Iterable[str] = (),
        scopes_supported: Iterable[str] | None = None,
        includes: Mapping[str, Iterable[str]] | None = None,
        dpop: bool = False,
        now: Callable[[], float] = time.time,
        limits: Limits = DEFAULT,
    ) -> None:
        self.resource: Final = require_secure(resource, "the URI of this server")
        issuers = [issuer] if isinstance(issuer, str) else list(issuer)
        self._issuers = [require_secure(one, "the authorization server") for one in issuers]
        self.scopes: Final = texts("scopes", scopes)
        supported = self.scopes if scopes_supported is None else scopes_supported
        self._supported = texts("scopes_supported", supported)
        if "offline_access" in {*self.scopes, *self._supported}:
            raise ValueError("offline_access is not a scope of a server; clients ask for it")
        self._includes = {broad: frozenset(narrow) for broad, narrow in (includes or {}).items()}
        self._dpop = dpop
        self._verifier = CachedVerifier(verifier, now, limits)
        self._now = now
        self._limits = limits

    # ---- metadata

    @property
    def metadata(self) -> bytes:
        """The protected resource metadata, as JSON. Source: RFC 9728 section 2."""
        document: dict[str, Any] = {
            "resource": self.resource,
            "authorization_servers": self._issuers,
            "bearer_methods_supported": ["header"],
        }
        if self._supported:
            document["scopes_supported"] = list(self._supported)
        if self._dpop:
            document["dpop_bound_access_tokens_required"] = True
        return msgspec.json.encode(document)

    @property
    def metadata_url(self) -> str:
        """The URL of the protected resource metadata. Source: RFC 9728 section 3.1."""
        path = urlsplit(self.resource).path.rstrip("/")
        return f"{origin(self.resource)}{_WELL_KNOWN}{path}"

    @property
    def metadata_paths(self) -> tuple[str, ...]:
        """The paths of the metadata: with the path of the resource, and without."""
        return tuple(dict.fromkeys((urlsplit(self.metadata_url).path, _WELL_KNOWN)))

    # ---- requests

    def seconds_left(self, verified: VerifiedToken) -> float:
        """Return the seconds for which a token is still valid; infinity for ever."""
        return math.inf if verified.expires_at is None else verified.expires_at - self._now()

    async def authenticate(
        self, headers: Mapping[str, str], *, method: str, path: str
    ) -> VerifiedToken:
        """Authenticate a request by its token. Names of `headers` are in lower case.

        `path` is the path the client asked for, on the host of `resource`: the request's own
        headers are no proof of the host. Raises AccessDenied; SessionError where nobody can say now
        whether the token is valid.
        """
        scheme, _, token = headers.get("authorization", "").partition(" ")
        scheme, token = scheme.lower(), token.strip()
        if not token or scheme not in ("bearer", "dpop"):
            raise self._unauthorized_error("a token is needed")
        try:
            verified = await self._verifier.verify(token)
        except InvalidToken as error:
            raise self._unauthorized_error(str(error), "invalid_token") from None
        if self._includes:
            verified = self._add_narrow_scopes(verified)
        if scheme == "dpop" or self._dpop or verified.key_thumbprint is not None:
            self._require_proof(verified, scheme, token, headers, method, path)
        self.require_scopes(verified, self.scopes)
        return verified

    def require_scopes(self, verified: VerifiedToken, scopes: Iterable[str]) -> None:
        """Raise AccessDenied naming all of `scopes` if one of them is missing.

        Source: 2026-07-28 basic/authorization, "Runtime Insufficient Scope Errors".
        """
        needed = tuple(scopes)
        if not verified.scopes.issuperset(needed):
            missing = sorted({*needed} - verified.scopes)
            message = f"the token lacks scope {' '.join(missing)}"
            challenge = self._challenge("Bearer", "insufficient_scope", message, needed)
            raise AccessDenied(403, message, challenge)

    def _add_narrow_scopes(self, verified: VerifiedToken) -> VerifiedToken:
        """Return the token with all narrow scopes of its broad ones added."""
        if not (broad := verified.scopes & self._includes.keys()):
            return verified
        narrow = (self._includes[scope] for scope in broad)
        return replace(verified, scopes=verified.scopes.union(*narrow))

    def refuse_proof(self, why: str) -> AccessDenied:
        """Return the answer to a proof by someone who may not hold the token's key."""
        return self._unauthorized_error(why, "invalid_dpop_proof")

    def _require_proof(
        self,
        verified: VerifiedToken,
        scheme: str,
        token: str,
        headers: Mapping[str, str],
        method: str,
        path: str,
    ) -> None:
        """Require the scheme DPoP and a proof for a token bound to a key, and Bearer for any
        other.
        """
        if verified.key_thumbprint is None:
            raise self._unauthorized_error("the token is not bound to a key", "invalid_token")
        if scheme != "dpop" or "dpop" not in headers:
            raise self._unauthorized_error(
                "the token is bound to a key: a proof is needed", "invalid_token"
            )
        try:
            self._proofs.verify(
                headers["dpop"],
                method=method,
                url=f"{origin(self.resource)}{path}",
                token=token,
                thumbprint=verified.key_thumbprint,
            )
        except InvalidProof as error:
            raise self.refuse_proof(str(error)) from None

    @cached_property
    def _proofs(self) -> ProofVerifier:
        """Make the verifier of proofs. Raises NotInstalled without the extra `auth`."""
        from mcp_runtime.auth.server.proof import ProofVerifier

        return ProofVerifier(self._now, self._limits)

    # ---- challenges

    def _unauthorized_error(self, message: str, error: str = "") -> AccessDenied:
        scheme = "DPoP" if self._dpop or error == "invalid_dpop_proof" else "Bearer"
        description = message if error else ""
        return AccessDenied(401, message, self._challenge(scheme, error, description, self.scopes))

    def _challenge(self, scheme: str, error: str, description: str, scopes: Sequence[str]) -> str:
        parameters = {
            "error": error,
            "error_description": _printable(description),
            "resource_metadata": self.metadata_url,
            "scope": " ".join(scopes),
            "algs": _algorithms() if scheme == "DPoP" else "",
        }
        return write_challenge(scheme, {name: value for name, value in parameters.items() if value})


def _printable(text: str) -> str:
    """Replace the characters of a text a header cannot hold, and shorten it."""
    return "".join(character if " " <= character <= "~" else "?" for character in text)[:_MAX_SHOWN]


def _algorithms() -> str:
    from mcp_runtime.auth.server.proof import ALGORITHMS

    return " ".join(ALGORITHMS)
