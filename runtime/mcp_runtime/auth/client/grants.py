"""Grants without a person: client credentials, an employer's sign-on, a workload's own JWT.

Source: the extensions "OAuth Client Credentials" (draft), "Enterprise-Managed Authorization"
(stable) and "Workload Identity Federation" (draft).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from mcp_runtime.auth.addresses import require_secure
from mcp_runtime.auth.client.authorization_server.client_authentication import (
    KeyPair,
    authenticate,
)
from mcp_runtime.auth.client.authorization_server.registered import AuthMethod, ClientRegistration
from mcp_runtime.auth.client.authorization_server.tokens import TokenRequest, TokenSet
from mcp_runtime.auth.errors import AuthorizationError
from mcp_runtime.auth.messages import AuthResponse, Flow, form, oauth_error

JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
_ID_TOKEN: Final = "urn:ietf:params:oauth:token-type:id_token"


class Grant(Protocol):
    """A way to get tokens without a person. `client` asks, and signs with `key`."""

    @property
    def client(self) -> ClientRegistration: ...

    @property
    def key(self) -> KeyPair | None: ...

    def tokens(self, request: TokenRequest, scopes: tuple[str, ...]) -> Flow[TokenSet]:
        """Ask the authorization server. Raises OAuthError, AuthorizationError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """Credentials of a machine: a secret, or a private key to sign with.

    >>> ClientCredentials(client_id="job", client_secret="...")
    """

    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    key: KeyPair | None = None
    auth_method: AuthMethod = "client_secret_basic"

    @property
    def client(self) -> ClientRegistration:
        return ClientRegistration(
            client_id=self.client_id,
            client_secret=self.client_secret,
            auth_method="private_key_jwt" if self.key is not None else self.auth_method,
        )

    def tokens(self, request: TokenRequest, scopes: tuple[str, ...]) -> Flow[TokenSet]:
        grant = _add_scopes({"grant_type": "client_credentials"}, scopes)
        return request.send(grant, purpose="asks for a token as a machine", asked=scopes)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadIdentity:
    """A workload whose platform gives it a signed JWT; `jwt` gives the one of now."""

    jwt: Callable[[], str] = field(repr=False)
    client_id: str = ""
    key: KeyPair | None = None

    @property
    def client(self) -> ClientRegistration:
        return ClientRegistration(client_id=self.client_id)

    def tokens(self, request: TokenRequest, scopes: tuple[str, ...]) -> Flow[TokenSet]:
        grant = _add_scopes({"grant_type": JWT_BEARER, "assertion": self.jwt()}, scopes)
        return request.send(grant, purpose="asks for a token as a workload", asked=scopes)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterpriseManaged:
    """A person who is signed in with their employer, whose policy decides.

    `id_token` gives the identity assertion of now. The identity provider exchanges it at
    `idp_token_endpoint` for a grant the server's authorization server accepts.
    """

    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    auth_method: AuthMethod = "client_secret_basic"
    idp_token_endpoint: str
    idp_client_id: str
    idp_client_secret: str | None = field(default=None, repr=False)
    id_token: Callable[[], str] = field(repr=False)
    key: KeyPair | None = None

    @property
    def client(self) -> ClientRegistration:
        return ClientRegistration(
            client_id=self.client_id,
            client_secret=self.client_secret,
            auth_method=self.auth_method if self.client_secret else "none",
        )

    def tokens(self, request: TokenRequest, scopes: tuple[str, ...]) -> Flow[TokenSet]:
        assertion = yield from self._assertion(request, scopes)
        grant = _add_scopes({"grant_type": JWT_BEARER, "assertion": assertion}, scopes)
        purpose = "exchanges the employer's grant for a token"
        return (yield from request.send(grant, purpose=purpose, asked=scopes))

    def _assertion(self, request: TokenRequest, scopes: tuple[str, ...]) -> Flow[str]:
        """Return the identity provider's grant for the authorization server and the MCP server."""
        place = require_secure(self.idp_token_endpoint, "the identity provider's token endpoint")
        fields = {
            "grant_type": _EXCHANGE,
            "requested_token_type": _ID_JAG,
            "audience": request.discovery.server.issuer,
            "resource": request.discovery.resource,
            "subject_token": self.id_token(),
            "subject_token_type": _ID_TOKEN,
        }
        at_idp = ClientRegistration(
            client_id=self.idp_client_id,
            client_secret=self.idp_client_secret,
            auth_method="client_secret_post" if self.idp_client_secret else "none",
        )
        body, headers = authenticate(at_idp, _add_scopes(fields, scopes))
        response: AuthResponse = yield form(
            place, "asks the identity provider for a grant", body, headers
        )
        if not response.ok:
            secrets = (self.idp_client_secret, fields["subject_token"])
            raise oauth_error("the identity provider gives no grant", response, secrets)
        return _grant_of(response.json("the identity provider's answer"))


def _grant_of(answer: dict[str, Any]) -> str:
    token = answer.get("access_token")
    if answer.get("issued_token_type") != _ID_JAG or not isinstance(token, str):
        raise AuthorizationError(f"the identity provider's answer holds no token of type {_ID_JAG}")
    return token


def _add_scopes(fields: dict[str, str], scopes: tuple[str, ...]) -> dict[str, str]:
    return {**fields, "scope": " ".join(scopes)} if scopes else fields
