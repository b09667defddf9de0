"""A small authorization server, and the protected server that trusts it, without a socket.

It answers what the client's flows send, signs JWTs, and remembers every request, so that a test
can say what was sent. It is for tests alone: nobody is asked who they are.
"""

from __future__ import annotations

import itertools
import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from mcp_runtime.auth.client.redirect import Visit
from mcp_runtime.auth.messages import AuthRequest, AuthResponse

ISSUER = "https://as.example"
SERVER = "https://mcp.example/mcp"
CALLBACK = "http://127.0.0.1:7777/callback"


@dataclass
class Clock:
    """Seconds since 1970, set forward by the test."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class World:
    """An issuer and a protected resource; what they say can be changed by a test."""

    issuer: str = ISSUER
    resource: str = SERVER
    metadata: dict[str, Any] = field(default_factory=dict)
    protected: dict[str, Any] | None = field(default_factory=dict)
    iss: str | None = ISSUER
    registers: bool = True
    nonce: str = ""
    refresh: bool = True
    lasts: int | None = 3600
    grants: tuple[str, ...] | None = None
    requests: list[AuthRequest] = field(default_factory=list)
    visited: list[dict[str, str]] = field(default_factory=list)
    token_fields: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(1)
        self._codes: dict[str, dict[str, str]] = {}
        self.valid: set[str] = set()
        self.scopes: dict[str, frozenset[str]] = {}
        self.keys: dict[str, str] = {}
        """The thumbprint of the key that a token is bound to."""
        self.refresh_tokens: set[str] = set()
        self.places: dict[str, Callable[[AuthRequest], AuthResponse]] = {}
        self.publish()

    def publish(self) -> None:
        """Puts the metadata and the endpoints where the specifications say."""
        root, path = _split(self.issuer)
        self.places[f"{root}/.well-known/oauth-authorization-server{path}"] = lambda _: reply(
            self.server_metadata
        )
        for name, handler in (("token", self._token), ("register", self._register)):
            self.places[f"{self.issuer}/{name}"] = handler
        if self.protected is not None:
            host, path = _split(self.resource)
            place = f"{host}/.well-known/oauth-protected-resource{path}"
            self.places[place] = lambda _: reply(self.protected_metadata)

    @property
    def server_metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }

    @property
    def protected_metadata(self) -> dict[str, Any]:
        return {
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            **(self.protected or {}),
        }

    async def __call__(self, request: AuthRequest, /) -> AuthResponse:
        """As a `Fetch`: what is nowhere is 404."""
        self.requests.append(request)
        handler = self.places.get(request.url)
        return reply({"error": "not found"}, 404) if handler is None else handler(request)

    async def close(self) -> None:
        """There is nothing to close."""

    @property
    def asked(self) -> list[str]:
        return [request.url for request in self.requests]

    # ---- the person

    def visit(self, url: str) -> str:
        """Signs in at once, and gives back the redirect."""
        query = dict(parse_qsl(urlsplit(url).query))
        self.visited.append(query)
        code = f"code-{next(self._numbers)}"
        self._codes[code] = query
        answer = {"code": code, "state": query["state"]}
        if self.iss is not None:
            answer["iss"] = self.iss
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    @asynccontextmanager
    async def redirect(self, preferred: str | None, /) -> AsyncGenerator[Visit]:
        """As a `Redirect`."""
        yield _Visit(preferred or CALLBACK, self.visit)

    # ---- endpoints

    def _register(self, request: AuthRequest) -> AuthResponse:
        if not self.registers:
            return reply({"error": "invalid_redirect_uri", "error_description": "no"}, 400)
        asked = json.loads(request.body)
        client = {"client_id": f"client-{next(self._numbers)}", **asked}
        if asked["token_endpoint_auth_method"] != "none":
            client["client_secret"] = "s3cret/with:signs"
        return reply(client, 201)

    def _token(self, request: AuthRequest) -> AuthResponse:
        fields = dict(parse_qsl(request.body.decode()))
        self.token_fields.append(fields)
        if self.nonce and "DPoP" in request.headers and not self._has_nonce(request):
            return reply({"error": "use_dpop_nonce"}, 400, {"dpop-nonce": self.nonce})
        match fields["grant_type"]:
            case "authorization_code" if not self._code_fits(fields):
                return reply({"error": "invalid_grant"}, 400)
            case "refresh_token" if fields["refresh_token"] not in self.refresh_tokens:
                return reply({"error": "invalid_grant", "error_description": "used up"}, 400)
        return self._issued(fields, request.headers.get("DPoP"))

    def _has_nonce(self, request: AuthRequest) -> bool:
        claims = request.headers["DPoP"].split(".")[1]
        decoded = json.loads(b64decode(claims + "==", altchars=b"-_"))
        return bool(decoded.get("nonce") == self.nonce)

    def _code_fits(self, fields: Mapping[str, str]) -> bool:
        asked = self._codes.pop(fields["code"], None)
        if asked is None or asked["redirect_uri"] != fields["redirect_uri"]:
            return False
        digest = sha256(fields["code_verifier"].encode()).digest()
        return asked["code_challenge"] == urlsafe_b64encode(digest).rstrip(b"=").decode()

    def _issued(self, fields: Mapping[str, str], proof: str | None) -> AuthResponse:
        self.refresh_tokens.discard(fields.get("refresh_token", ""))
        number = next(self._numbers)
        tokens: dict[str, Any] = {
            "access_token": f"token-{number}",
            "token_type": "DPoP" if proof else "Bearer",
        }
        self.valid.add(tokens["access_token"])
        self.scopes[tokens["access_token"]] = frozenset(self.grants or ())
        if proof:
            self.keys[tokens["access_token"]] = _thumbprint(proof)
        if self.lasts is not None:
            tokens["expires_in"] = self.lasts
        if self.refresh:
            tokens["refresh_token"] = f"refresh-{number}"
            self.refresh_tokens.add(tokens["refresh_token"])
        if self.grants is not None:
            tokens["scope"] = " ".join(self.grants)
        return reply(tokens)


class _Visit:
    def __init__(self, uri: str, visit: Callable[[str], str]) -> None:
        self.uri = uri
        self._visit = visit

    async def __call__(self, url: str, host: str, /) -> str:
        return self._visit(url)


def reply(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> AuthResponse:
    return AuthResponse(status, dict(headers or {}), json.dumps(body).encode())


def refused(status: int = 401, **parameters: str) -> AuthResponse:
    """The protected server's answer to a request that it does not let in."""
    named = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
    return AuthResponse(status, {"www-authenticate": f"Bearer {named}".strip()}, b"")


def basic(request: AuthRequest) -> tuple[str, str]:
    """Who authenticates by HTTP Basic."""
    pair = b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
    user, _, secret = pair.partition(":")
    return unquote(user), unquote(secret)


def _split(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def _thumbprint(proof: str) -> str:
    """Of the key in a proof. Source: RFC 7638."""
    jwk = json.loads(b64decode(proof.split(".")[0] + "==", altchars=b"-_"))["jwk"]
    ordered = json.dumps(jwk, sort_keys=True, separators=(",", ":")).encode()
    return urlsafe_b64encode(sha256(ordered).digest()).rstrip(b"=").decode()
