"""Finds out who issues tokens for a server: its metadata, and that of its authorization server.

Source: RFC 9728; RFC 8414; OpenID Connect Discovery 1.0; 2026-07-28
basic/authorization/authorization-server-discovery; 2025-03-26 basic/authorization, "Server
Metadata Discovery".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from mcp_runtime.auth.addresses import origin, require_secure, same_issuer
from mcp_runtime.auth.errors import DiscoveryFailed, IssuerMismatch, ResourceMismatch
from mcp_runtime.auth.messages import AuthResponse, Flow, get
from mcp_runtime.revisions import LATEST

_T = TypeVar("_T")
_RESOURCE: Final = "/.well-known/oauth-protected-resource"
_OAUTH: Final = "/.well-known/oauth-authorization-server"
_OPENID: Final = "/.well-known/openid-configuration"


class ProtectedResource(msgspec.Struct, frozen=True, kw_only=True):
    """A server's metadata about itself. Source: RFC 9728 section 2."""

    resource: str
    authorization_servers: list[str] = []
    scopes_supported: list[str] | None = None
    dpop_bound_access_tokens_required: bool = False


class AuthorizationServer(msgspec.Struct, frozen=True, kw_only=True):
    """An authorization server's metadata about itself. Source: RFC 8414 section 2."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    scopes_supported: list[str] | None = None
    token_endpoint_auth_methods_supported: list[str] | None = None
    code_challenge_methods_supported: list[str] | None = None
    client_id_metadata_document_supported: bool = False
    authorization_response_iss_parameter_supported: bool = False

    @property
    def has_pkce(self) -> bool:
        return "S256" in (self.code_challenge_methods_supported or ())


@dataclass(frozen=True, slots=True)
class Discovered:
    """`resource` is the URI to ask tokens for; `scopes` are those of the server's metadata, None
    where it names none. The metadata of `server` came from `asked`.
    """

    resource: str
    scopes: tuple[str, ...] | None
    server: AuthorizationServer
    dpop_required: bool = False
    asked: str = ""

    @property
    def issuer(self) -> str:
        """The authorization server to which tokens, secrets and registrations belong.

        It is the address asked, since any server can state another's issuer.
        """
        stated = self.server.issuer
        return self.asked if self.asked and not same_issuer(self.asked, stated) else stated


def discover(
    url: str, metadata_url: str | None = None, *, allow_issuer_mismatch: bool = False
) -> Flow[Discovered]:
    """Find the issuer of tokens for the server at `url`.

    `metadata_url` is the address in the server's challenge. A server without metadata of its own is
    asked as in 2025-03-26: the authorization server is at its origin, perhaps on fixed paths.
    Raises DiscoveryFailed, IssuerMismatch, ResourceMismatch.
    """
    metadata = yield from _protected_resource(url, metadata_url)
    if metadata is None:
        at_origin = yield from _at_origin(origin(url), allow_issuer_mismatch)
        return Discovered(canonical(url), None, at_origin, asked=origin(url))
    if not metadata.authorization_servers:
        raise DiscoveryFailed("the server's metadata names no authorization server")
    issuer = require_secure(metadata.authorization_servers[0], "the authorization server")
    server = yield from _authorization_server(issuer, None if allow_issuer_mismatch else issuer)
    if server is None:
        raise DiscoveryFailed(
            f"the authorization server {issuer!r} has no metadata at any of "
            + ", ".join(authorization_server_urls(issuer))
        )
    scopes = metadata.scopes_supported
    return Discovered(
        metadata.resource,
        None if scopes is None else tuple(scopes),
        server,
        metadata.dpop_bound_access_tokens_required,
        issuer,
    )


def canonical(url: str) -> str:
    """Return the URI of a server as a resource: without fragment, host and scheme in lower case.

    Source: RFC 8707 section 2; 2025-06-18 basic/authorization, "Canonical Server URI".
    """
    parts = urlsplit(url)
    path = "" if parts.path == "/" else parts.path
    return f"{origin(url)}{path}" + (f"?{parts.query}" if parts.query else "")


# ---- the server's own metadata


def resource_urls(url: str, named: str | None = None) -> Iterator[str]:
    """Yield the possible URLs of a server's metadata, in the order in which they are tried."""
    if named is not None:
        yield named
    path = urlsplit(url).path.rstrip("/")
    if path:
        yield f"{origin(url)}{_RESOURCE}{path}"
    yield f"{origin(url)}{_RESOURCE}"


def _protected_resource(url: str, named: str | None) -> Flow[ProtectedResource | None]:
    for place in resource_urls(url, named):
        require_secure(place, "the metadata of the server")
        response = yield get(place, "asks for the metadata of the server")
        if _is_there(response, place):
            document = response.json(f"the server's metadata at {place}")
            return _fitting(_read(ProtectedResource, document, place), url)
    return None


def _fitting(metadata: ProtectedResource, url: str) -> ProtectedResource:
    """Return the metadata. Raises ResourceMismatch unless its resource is the server's URL, or a
    parent of the URL on the same host.

    A slash at the end makes no other resource: SDKs write and compare it either way.
    """
    ours, stated = canonical(url), metadata.resource
    try:
        theirs = canonical(stated)
    except DiscoveryFailed:
        raise ResourceMismatch(stated, url) from None
    within = f"{ours}/".startswith((f"{theirs.rstrip('/')}/", f"{theirs}?"))
    if urlsplit(stated).fragment or not within:
        raise ResourceMismatch(stated, url)
    return metadata


# ---- the authorization server's metadata


def authorization_server_urls(issuer: str) -> tuple[str, ...]:
    """Return the possible URLs of an issuer's metadata, in the order in which they are tried."""
    root, path = origin(issuer), urlsplit(issuer).path.rstrip("/")
    if not path:
        return f"{root}{_OAUTH}", f"{root}{_OPENID}"
    return f"{root}{_OAUTH}{path}", f"{root}{_OPENID}{path}", f"{root}{path}{_OPENID}"


def _authorization_server(issuer: str, named: str | None) -> Flow[AuthorizationServer | None]:
    """Return the metadata of an issuer; None if it has none.

    Raises IssuerMismatch if the metadata names another issuer than `named`, compared as in RFC
    3986. `named=None` allows any name.
    """
    for place in authorization_server_urls(issuer):
        purpose = "asks for the metadata of the authorization server"
        response = yield get(place, purpose, {"MCP-Protocol-Version": LATEST})
        if _is_there(response, place):
            document = response.json(f"the authorization server's metadata at {place}")
            return _check(_read(AuthorizationServer, document, place), named)
    return None


def _check(server: AuthorizationServer, named: str | None) -> AuthorizationServer:
    if named is not None and not same_issuer(server.issuer, named):
        raise IssuerMismatch(server.issuer, named)
    endpoints = {
        "the authorization endpoint": server.authorization_endpoint,
        "the token endpoint": server.token_endpoint,
        "the registration endpoint": server.registration_endpoint,
    }
    for what, endpoint in endpoints.items():
        if endpoint is not None:
            require_secure(endpoint, what)
    return server


def _at_origin(base: str, lenient: bool) -> Flow[AuthorizationServer]:
    """Find the authorization server at the origin of a server without metadata.

    Source: 2025-03-26 basic/authorization, "Fallbacks for Servers without Metadata".
    """
    require_secure(base, "the authorization server")
    published = yield from _authorization_server(base, None if lenient else base)
    return published or AuthorizationServer(
        issuer=base,
        authorization_endpoint=f"{base}/authorize",
        token_endpoint=f"{base}/token",
        registration_endpoint=f"{base}/register",
        code_challenge_methods_supported=["S256"],
    )


# ---- both


def _is_there(response: AuthResponse, place: str) -> bool:
    """Return True if a response is metadata; False for an error or a web page, after which the next
    place is tried.

    Raises DiscoveryFailed where the server itself is in trouble.
    """
    if response.status >= 500:
        raise DiscoveryFailed(f"the metadata at {place} answers HTTP {response.status}; try later")
    return response.ok and not response.headers.get("content-type", "").startswith("text/html")


def _read(kind: type[_T], document: Mapping[str, Any], place: str) -> _T:
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise DiscoveryFailed(f"the metadata at {place}: {error}") from None
