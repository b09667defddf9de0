"""How a client authenticates itself at the token endpoint.

Source: RFC 6749 section 2.3.1; RFC 7523 section 2.2.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

from mcp_runtime.auth.client.authorization_server.registered import ClientRegistration
from mcp_runtime.errors import NotInstalled

ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_LIFETIME: Final = 300
"""Seconds for which an assertion of a client is valid."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A private key in PEM, and the algorithm to sign with (ES256, RS256 …)."""

    private_key_pem: str = field(repr=False)
    algorithm: str = "ES256"
    key_id: str | None = None


def authenticate(
    client: ClientRegistration,
    fields: dict[str, str],
    *,
    assertion: Callable[[], str] | None = None,
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the fields and the headers of a token request, with the client's authentication in
    them.

    The id is always a field: some servers look the client up by it before they read a header.
    `assertion` makes the signed JWT of `private_key_jwt`.
    """
    method, secret = client.auth_method, client.client_secret or ""
    fields = {**fields, "client_id": client.client_id}
    if method == "client_secret_basic":
        pair = f"{quote(client.client_id, safe='')}:{quote(secret, safe='')}"
        return fields, {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    if method == "private_key_jwt":
        if assertion is None:
            raise ValueError("private_key_jwt needs the client's private key")
        return {
            **fields,
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": assertion(),
        }, {}
    return ({**fields, "client_secret": secret} if method == "client_secret_post" else fields), {}


def sign_assertion(key: KeyPair, *, client_id: str, audience: str, jti: str, now: float) -> str:
    """Return a signed JWT by which a client proves its identity. Raises NotInstalled, ValueError.

    Source: RFC 7523 section 3.
    """
    try:
        import jwt
    except ModuleNotFoundError:
        raise NotInstalled("signing as a client", "pyjwt[crypto]", "auth") from None
    claims = {
        "iss": client_id,
        "sub": client_id,
        "aud": audience,
        "jti": jti,
        "iat": int(now),
        "exp": int(now) + _LIFETIME,
    }
    headers = {"kid": key.key_id} if key.key_id else None
    try:
        return jwt.encode(claims, key.private_key_pem, algorithm=key.algorithm, headers=headers)
    except (jwt.PyJWTError, NotImplementedError, TypeError) as error:
        raise ValueError(f"the private key cannot sign with {key.algorithm}: {error}") from None
