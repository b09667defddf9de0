"""How a client over HTTP is authorized: the settings its author gives.

    Client.http(url, auth=OAuth(redirect=LoopbackRedirect(show)))      # a person signs in
    Client.http(url, auth=OAuth(grant=ClientCredentials(...)))         # a machine

Source: 2026-07-28 basic/authorization; 2025-03-26 to 2025-11-25 basic/authorization.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from mcp_runtime.auth.client.auth_trace import Report
from mcp_runtime.auth.client.authorization_server.client_document import require_document_url
from mcp_runtime.auth.client.authorization_server.registered import AuthMethod
from mcp_runtime.auth.client.grants import Grant
from mcp_runtime.auth.client.redirect import Redirect
from mcp_runtime.auth.client.storage import MemoryStorage, TokenStorage
from mcp_runtime.option_checks import texts

_RANDOM_BYTES: Final = 32


def _draw() -> str:
    return secrets.token_urlsafe(_RANDOM_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """How a client is authorized. Nothing is asked for before a server demands it.

    `redirect` asks a person (LoopbackRedirect, PastedRedirect); `grant` works without a person.

    `client_id` is the id the authorization server `client_issuer` gave you beforehand. A secret,
    and the credentials of a `grant`, go to this issuer alone. Without it they are not sent, unless
    tokens of an earlier sign-in of the client are stored, and then to their issuer.
    `client_metadata_url` is the https URL of your client's metadata document. Without both, the
    client registers itself under `client_name`.

    `scopes` are asked for beside those the server names. `dpop` binds tokens to a key: True always,
    None where the server asks for it, False never. Such tokens are not stored, for their key is
    not. `allow_issuer_mismatch` accepts metadata naming another issuer than was asked, at your own
    risk. `allow_private_sign_in` lets a server outside a private network send people to a sign-in
    page in one. `report` gets a line for each step, with secrets masked.
    """

    redirect: Redirect | None = field(default=None, repr=False)
    grant: Grant | None = field(default=None, repr=False)
    client_name: str = "mcp-bindgen"
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    client_auth_method: AuthMethod | None = None
    client_issuer: str | None = None
    client_metadata_url: str | None = None
    scopes: tuple[str, ...] = ()
    dpop: bool | None = None
    storage: TokenStorage = field(default_factory=MemoryStorage, repr=False)
    allow_issuer_mismatch: bool = False
    allow_private_sign_in: bool = False
    report: Report | None = field(default=None, repr=False)
    now: Callable[[], float] = field(default=time.time, repr=False)
    draw: Callable[[], str] = field(default=_draw, repr=False)

    @property
    def shown(self) -> str:
        """The words for the secret that proves the client's identity, for an error; empty if it has
        none.
        """
        if self.grant is not None:
            return f"what {type(self.grant).__name__} shows"
        is_secret = self.client_secret is not None or self.client_auth_method == "private_key_jwt"
        return f"the secret of client {self.client_id!r}" if is_secret and self.client_id else ""

    def __post_init__(self) -> None:
        """Raise ValueError if `client_metadata_url` cannot be a client id, or if `scopes` is one
        text instead of a list. Raise DiscoveryFailed for an insecure URL.

        Source: 2026-07-28 basic/authorization/client-registration, "Client ID Metadata Documents".
        """
        texts("scopes", self.scopes)
        if self.client_metadata_url is not None:
            require_document_url(self.client_metadata_url)
