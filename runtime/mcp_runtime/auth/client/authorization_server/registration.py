"""Registers a client with an authorization server, and writes the metadata of clients.

Source: 2026-07-28 basic/authorization/client-registration; RFC 7591; OpenID Connect Dynamic
Client Registration 1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from mcp_runtime.auth.addresses import is_loopback
from mcp_runtime.auth.client.authorization_server.discovery import AuthorizationServer
from mcp_runtime.auth.client.authorization_server.registered import AuthMethod, ClientRegistration
from mcp_runtime.auth.errors import DiscoveryFailed, RegistrationRefused
from mcp_runtime.auth.messages import AuthRequest, Flow, oauth_error

_PREFERRED: Final[tuple[AuthMethod, ...]] = ("none", "client_secret_basic", "client_secret_post")
_DEFAULT: Final = ("client_secret_basic",)
"""The methods of an authorization server whose metadata has none. Source: RFC 8414 section 2."""


class _Registered(msgspec.Struct, frozen=True):
    client_id: str
    client_secret: str | None = None
    token_endpoint_auth_method: str | None = None
    client_secret_expires_at: int = 0


def register(
    server: AuthorizationServer, *, client_name: str, redirect_uri: str
) -> Flow[ClientRegistration]:
    """Register the client anew, without scopes: they would bound its later requests.

    Raises RegistrationRefused with a possible remedy.
    """
    if server.registration_endpoint is None:
        raise RegistrationRefused(
            f"{server.issuer} registers no clients: give the `client_id` that it knows you by, or"
            " the URL of your client's metadata document"
        )
    method = chosen_method(server)
    kinds = {"Content-Type": "application/json", "Accept": "application/json"}
    response = yield AuthRequest(
        "POST",
        server.registration_endpoint,
        "registers this client",
        kinds,
        msgspec.json.encode(client_metadata(client_name, [redirect_uri], method)),
    )
    if not response.ok:
        error = oauth_error(f"{server.issuer} does not register this client", response)
        raise RegistrationRefused(
            f"{error} (redirect_uri {redirect_uri!r}); give the `client_id` that it knows you by,"
            " or the header with the key that the server wants"
        ) from error
    return _read_registration(response.json("the registration"), method, redirect_uri)


def client_metadata(
    name: str, redirect_uris: Sequence[str], method: AuthMethod
) -> dict[str, object]:
    """Return the metadata of a client, for its registration or for a document of its own."""
    return {
        "client_name": name,
        "redirect_uris": redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": application_type(redirect_uris[0]),
    }


def _read_registration(answer: dict[str, Any], asked: AuthMethod, uri: str) -> ClientRegistration:
    try:
        said = msgspec.convert(answer, _Registered)
    except msgspec.ValidationError as error:
        raise RegistrationRefused(f"the registration cannot be read: {error}") from None
    stated = said.token_endpoint_auth_method or asked
    method: AuthMethod | None = next((one for one in _PREFERRED if one == stated), None)
    if method is None:
        raise RegistrationRefused(f"the registration asks for authentication by {stated[:80]!r}")
    if said.client_secret is None:
        method = "none"
    return ClientRegistration(
        client_id=said.client_id,
        client_secret=said.client_secret,
        auth_method=method,
        redirect_uri=uri,
        expires_at=said.client_secret_expires_at,
    )


def chosen_method(server: AuthorizationServer) -> AuthMethod:
    """Choose the authentication method of a client without a key, of those the server accepts.

    Raises DiscoveryFailed if it accepts none of ours.
    """
    supported = server.token_endpoint_auth_methods_supported or _DEFAULT
    for method in _PREFERRED:
        if method in supported:
            return method
    raise DiscoveryFailed(
        f"{server.issuer} authenticates clients by {', '.join(supported)[:200]}; known here are "
        + ", ".join(_PREFERRED)
    )


def application_type(redirect_uri: str) -> Literal["native", "web"]:
    """Return "native" for a redirect to this machine or to an application, "web" for any other.

    Source: 2026-07-28 basic/authorization/client-registration, "Application Type".
    """
    parts = urlsplit(redirect_uri)
    local = parts.scheme not in ("http", "https") or is_loopback(parts.hostname or "")
    return "native" if local else "web"
