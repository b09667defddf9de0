"""The authorization code flow with PKCE: the request, and the redirect answering it.

Source: 2026-07-28 basic/authorization, "Authorization Response Validation"; RFC 7636; RFC 9207.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hmac import compare_digest
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

from mcp_runtime.auth.addresses import require_secure, shown_host
from mcp_runtime.auth.client.authorization_server.discovery import Discovered
from mcp_runtime.auth.client.authorization_server.tokens import TokenRequest, TokenSet
from mcp_runtime.auth.client.flows.dpop import sha256_base64url
from mcp_runtime.auth.errors import DiscoveryFailed, OAuthError, RedirectRefused
from mcp_runtime.auth.messages import Authorize, Flow


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """The state of one authorization request until its redirect comes back."""

    url: str = field(repr=False)
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str
    issuer: str
    iss_promised: bool


def code_request(
    discovery: Discovered,
    client_id: str,
    redirect_uri: str,
    scopes: Sequence[str],
    draw: Callable[[], str],
) -> CodeRequest:
    """Make the authorization request with which a person is sent to the sign-in page.

    `draw` gives unguessable text of 43 to 128 characters a URL can hold. Raises DiscoveryFailed for
    an authorization server without PKCE, or without the endpoint.
    """
    server = discovery.server
    if server.authorization_endpoint is None:
        raise DiscoveryFailed(f"{server.issuer} has no authorization endpoint")
    if not server.has_pkce:
        raise DiscoveryFailed(
            f"{server.issuer} does not say that it knows PKCE with S256"
            " (code_challenge_methods_supported), without which a code can be stolen"
        )
    require_secure(redirect_uri, "the redirect URI")
    state, verifier = draw(), draw()
    fields = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": sha256_base64url(verifier.encode()),
        "code_challenge_method": "S256",
        "resource": discovery.resource,
    }
    if scopes:
        fields["scope"] = " ".join(scopes)
    url = _with_query(server.authorization_endpoint, fields)
    promised = server.authorization_response_iss_parameter_supported
    return CodeRequest(url, state, verifier, redirect_uri, server.issuer, promised)


def read_redirect(request: CodeRequest, redirected: str) -> str:
    """Return the code of a redirect.

    Raises RedirectRefused for another request's redirect, OAuthError for a refusal. `iss` is
    compared before anything else of the redirect is trusted.
    """
    try:
        query = parse_qs(urlsplit(redirected).query, keep_blank_values=True)
    except ValueError as error:
        raise RedirectRefused(f"the address of the redirect cannot be read: {error}") from None
    answer = {name: values[0] for name, values in query.items()}
    if any(len(values) > 1 for values in query.values()):
        raise RedirectRefused("the redirect has a parameter twice")
    if not compare_digest(answer.get("state", "").encode(errors="replace"), request.state.encode()):
        raise RedirectRefused(
            "the `state` of the redirect is not that of our request: it belongs to another sign-in,"
            " or is not the whole address"
        )
    _require_issuer(request, answer.get("iss"))
    if "error" in answer:
        what = f"{request.issuer} does not authorize this client"
        raise OAuthError(what, answer["error"], answer.get("error_description", ""))
    if not answer.get("code"):
        raise RedirectRefused("the redirect has no code")
    return answer["code"]


def _require_issuer(request: CodeRequest, stated: str | None) -> None:
    if stated is None and request.iss_promised:
        raise RedirectRefused(
            f"the redirect has no `iss`, which {request.issuer!r} promises in its metadata"
        )
    if stated is not None and stated != request.issuer:
        raise RedirectRefused(
            f"`iss` of the redirect is {stated[:200]!r}, the request went to {request.issuer!r}"
        )


def code_flow(
    request: TokenRequest, redirect_uri: str, scopes: Sequence[str], draw: Callable[[], str]
) -> Flow[TokenSet]:
    """Send a person to the sign-in page, and exchange the code in their redirect for tokens.

    Raises as `code_request`, `read_redirect` and `TokenRequest.send` do.
    """
    asked = code_request(request.discovery, request.client.client_id, redirect_uri, scopes, draw)
    redirected = yield Authorize(asked.url, shown_host(asked.url))
    grant = {
        "grant_type": "authorization_code",
        "code": read_redirect(asked, redirected),
        "redirect_uri": redirect_uri,
        "code_verifier": asked.verifier,
    }
    purpose = "exchanges the code for tokens"
    return (yield from request.send(grant, purpose=purpose, asked=tuple(scopes)))


def _with_query(url: str, fields: dict[str, str]) -> str:
    """Add fields to the query of `url`. They replace its own parameters of the same names."""
    parts = urlsplit(url)
    own = [(name, value) for name, value in parse_qsl(parts.query) if name not in fields]
    return urlunsplit(parts._replace(query=urlencode([*own, *fields.items()])))
