"""Proofs of possession: a key for each session, and a signed proof for each request.

Source: RFC 9449; the extension "DPoP Profile for MCP" (draft, the version without a digest of the
body).
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from mcp_runtime.auth.addresses import origin
from mcp_runtime.errors import NotInstalled

_ALGORITHM = "ES256"
_MAX_NONCES = 64


class DpopKey:
    """A key pair of ES256 with the life of this object, and the nonces seen, by origin.

    `now` gives seconds since 1970, `draw` unguessable text. Raises NotInstalled.
    """

    def __init__(self, *, now: Callable[[], float], draw: Callable[[], str]) -> None:
        try:
            import jwt
            from cryptography.hazmat.primitives.asymmetric import ec
        except ModuleNotFoundError:
            raise NotInstalled("DPoP", "pyjwt[crypto]", "auth") from None
        self._sign: Callable[..., str] = jwt.encode
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._jwk = _public_jwk(self._key)
        self._now = now
        self._draw = draw
        self._nonces: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"DpopKey(thumbprint={self.thumbprint!r})"

    @property
    def thumbprint(self) -> str:
        """The thumbprint of the public key."""
        return thumbprint(self._jwk)

    def remember(self, url: str, nonce: str | None) -> bool:
        """Keep the nonce of the host of `url`; return True if it is a new one."""
        place = origin(url)
        if not nonce or self._nonces.get(place) == nonce:
            return False
        if len(self._nonces) >= _MAX_NONCES:
            self._nonces.pop(next(iter(self._nonces)))
        self._nonces[place] = nonce
        return True

    def proof(self, method: str, url: str, nonce: str | None = None, token: str = "") -> str:
        """Return the value of the header DPoP. `token` is the access token of the request, if
        any.
        """
        claims: dict[str, Any] = {
            "jti": self._draw(),
            "htm": method,
            "htu": proof_url(url),
            "iat": int(self._now()),
        }
        if token:
            claims["ath"] = sha256_base64url(token.encode())
        if nonce := nonce or self._nonces.get(origin(url)):
            claims["nonce"] = nonce
        headers = {"typ": "dpop+jwt", "jwk": self._jwk}
        return self._sign(claims, self._key, algorithm=_ALGORITHM, headers=headers)


def proof_url(url: str) -> str:
    """A URL as a proof names it: without query and fragment."""
    return urlunsplit(urlsplit(url)._replace(query="", fragment=""))


def thumbprint(jwk: Mapping[str, Any]) -> str:
    """Return the thumbprint of a public key with only its required members.

    Source: RFC 7638 section 3.
    """
    return sha256_base64url(msgspec.json.encode(jwk, order="sorted"))


def sha256_base64url(data: bytes) -> str:
    """Return the hash of thumbprints, of PKCE, and of the token in a proof (the claim `ath`)."""
    return _base64url(sha256(data).digest())


def _public_jwk(key: Any) -> dict[str, str]:
    numbers = key.public_key().public_numbers()
    x, y = (_base64url(number.to_bytes(32, "big")) for number in (numbers.x, numbers.y))
    return {"crv": "P-256", "kty": "EC", "x": x, "y": y}


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
