"""Tokens, and the requests for them.

Source: RFC 6749 sections 4 to 6; RFC 8707; RFC 7523 section 2.1; RFC 8693.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from mcp_runtime.auth.client.authorization_server.client_authentication import authenticate
from mcp_runtime.auth.client.authorization_server.discovery import Discovered
from mcp_runtime.auth.client.authorization_server.registered import ClientRegistration
from mcp_runtime.auth.errors import AuthorizationError, OAuthError
from mcp_runtime.auth.messages import AuthResponse, Flow, form, oauth_error

_USE_NONCE: Final = "use_dpop_nonce"
_MAX_TOKEN: Final = 65_536
_SECRETS: Final = ("code", "code_verifier", "refresh_token", "assertion")
"""Secret fields of a grant, masked in errors."""


class TokenSet(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens for one server. `expires_at` is in seconds since 1970, None where it is not known.

    `client_id` is the client they were issued to, whose credentials go to `issuer` alone from then
    on. None in values stored by older versions.
    """

    access_token: str
    issuer: str
    resource: str
    token_type: str = "Bearer"
    refresh_token: str | None = None
    expires_at: float | None = None
    scopes: tuple[str, ...] = ()
    token_endpoint: str = ""
    client_id: str | None = None

    def __repr__(self) -> str:
        return f"TokenSet(issuer={self.issuer!r}, resource={self.resource!r}, scopes={self.scopes})"

    def lasts(self, now: float, leeway: float) -> bool:
        return self.expires_at is None or self.expires_at - leeway > now


class _Answer(msgspec.Struct, frozen=True):
    access_token: str
    token_type: str
    expires_in: float | str | None = None
    refresh_token: str | None = None
    scope: str | None = None


ProofMaker = Callable[[str, str, str | None], str]
"""Method, URL and nonce to the value of the header DPoP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """The parts of a request to a token endpoint, beside its grant.

    `assertion` signs as the client; `proof` makes DPoP proofs, `nonce` is the last the
    authorization server gave. `now` is in seconds since 1970.
    """

    discovery: Discovered
    client: ClientRegistration
    now: Callable[[], float]
    assertion: Callable[[], str] | None = None
    proof: ProofMaker | None = None

    def send(
        self, grant: Mapping[str, str], *, purpose: str, asked: tuple[str, ...] = ()
    ) -> Flow[TokenSet]:
        """Ask for tokens; a nonce the endpoint demands is used once.

        Raises OAuthError, AuthorizationError.
        """
        fields = {**grant, "resource": self.discovery.resource}
        what = f"{self.discovery.server.issuer} gives no token"
        secrets = (self.client.client_secret, *map(grant.get, _SECRETS))
        response = yield from self._post(fields, purpose, None)
        nonce = response.headers.get("dpop-nonce")
        demands = not response.ok and oauth_error(what, response).code == _USE_NONCE
        if demands and nonce and self.proof is not None:
            response = yield from self._post(fields, purpose, nonce)
        if not response.ok or (response.members() or {}).get("error"):
            raise oauth_error(what, response, secrets)
        return self._read(response, asked)

    def _post(self, fields: dict[str, str], purpose: str, nonce: str | None) -> Flow[AuthResponse]:
        place = self.discovery.server.token_endpoint
        body, headers = authenticate(self.client, fields, assertion=self.assertion)
        if self.proof is not None:
            headers["DPoP"] = self.proof("POST", place, nonce)
        response: AuthResponse = yield form(place, purpose, body, headers)
        return response

    def _read(self, response: AuthResponse, asked: tuple[str, ...]) -> TokenSet:
        try:
            said = msgspec.convert(response.json("the token response"), _Answer)
            lasts = None if said.expires_in is None else float(said.expires_in)
        except (msgspec.ValidationError, ValueError) as error:
            raise AuthorizationError(f"the token response cannot be read: {error}") from None
        require_token(said.access_token)
        if said.token_type.lower() not in ("bearer", "dpop"):
            raise AuthorizationError(f"the token is of type {said.token_type[:80]!r}")
        if said.token_type.lower() == "dpop" and self.proof is None:
            raise AuthorizationError("the token is bound to a key, and no DPoP was asked for")
        return TokenSet(
            access_token=said.access_token,
            token_type="DPoP" if said.token_type.lower() == "dpop" else "Bearer",
            refresh_token=said.refresh_token,
            expires_at=self.now() + lasts if lasts is not None and 0 < lasts < math.inf else None,
            scopes=asked if said.scope is None else tuple(said.scope.split()),
            issuer=self.discovery.issuer,
            client_id=self.client.client_id,
            resource=self.discovery.resource,
            token_endpoint=self.discovery.server.token_endpoint,
        )


def refresh(request: TokenRequest, tokens: TokenSet) -> Flow[TokenSet]:
    """Refresh tokens, with the granted scopes.

    Without scopes some authorization servers grant others. If the scopes are refused all the same,
    the tokens are refreshed without. If no new refresh token comes, the old one stays.

    Raises OAuthError: the authorization server wants the person again, unless it is
    IssuerUnavailable.
    """
    grant = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token or ""}
    purpose, granted = "refreshes the token", {"scope": " ".join(tokens.scopes)}
    try:
        scoped = {**grant, **granted} if tokens.scopes else grant
        newer = yield from request.send(scoped, purpose=purpose, asked=tokens.scopes)
    except OAuthError as error:
        if error.code != "invalid_scope" or not tokens.scopes:
            raise
        newer = yield from request.send(grant, purpose=purpose, asked=tokens.scopes)
    if newer.refresh_token is None:
        newer = msgspec.structs.replace(newer, refresh_token=tokens.refresh_token)
    return newer


def require_token(token: str) -> None:
    """Raise AuthorizationError for a token no header can hold."""
    fits = 0 < len(token) <= _MAX_TOKEN and all("\x21" <= c <= "\x7e" for c in token)
    if not fits:
        raise AuthorizationError("the access token has characters that no header can hold")
