"""The errors of authorization, grouped by who must act. Messages never hold a secret.

LocalError
  LoginNeeded            a person must sign in, and no handler was given that can ask them
  LoginAbandoned         the person did not come back in time
  IssuerNeeded           a secret would be shown, and nobody has said to which authorization server
PeerError
  AuthorizationError     the server's or the authorization server's doing
    DiscoveryFailed      the metadata is missing, cannot be read, or is refused
      IssuerMismatch     the metadata names another issuer than the one that was asked
      ResourceMismatch   the metadata is about another server
    RegistrationRefused  the authorization server gives us no client id
    RedirectRefused      the redirect back to us does not belong to our request
    OAuthError           the authorization server answered with an OAuth error code
      IssuerUnavailable  it has a fault of its own, or too much to do; tokens are kept
    TokenRefused         the server refuses a token that was just issued for it
"""

from __future__ import annotations

from mcp_runtime.errors import LocalError, PeerError

_MAX_SHOWN = 200


class LoginNeeded(LocalError):
    """`host`, the server or its authorization server, demands a token, and nobody can be asked."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} demands a token, and the client has none, and no `redirect` to get one; with"
            " the command, --login signs in, and --header 'Authorization: Bearer TOKEN' sends a"
            " token that you have"
        )
        self.host = host


class LoginAbandoned(LocalError):
    """Nobody came back from the sign-in page in time."""


class IssuerNeeded(LocalError):
    """The client has `shown` to show, and nobody has said to which authorization server.

    Any server could name one of its own, and get it.
    """

    def __init__(self, shown: str, issuer: str, server: str) -> None:
        issuer, server = issuer[:_MAX_SHOWN], server[:_MAX_SHOWN]
        super().__init__(
            f"{shown} would be sent to {issuer!r}, which {server!r} names as its authorization"
            f" server; if this client is known there, write OAuth(client_issuer={issuer!r}, ...)"
        )
        self.issuer = issuer


class AuthorizationError(PeerError):
    """The server, or its authorization server, did not let us in."""


class DiscoveryFailed(AuthorizationError):
    """The metadata of a server or of an authorization server cannot be used."""


class IssuerMismatch(DiscoveryFailed):
    """The metadata of an authorization server names another issuer than was asked.

    Source: RFC 8414 section 3.3; 2026-07-28 basic/authorization/authorization-server-discovery.
    """

    def __init__(self, stated: str, expected: str) -> None:
        is_slash = stated.rstrip("/") == expected.rstrip("/")
        only = ", which differ in the slash at the end alone" if is_slash else ""
        super().__init__(
            f"issuer in the metadata is {stated[:_MAX_SHOWN]!r}, the address it was fetched from"
            f" says {expected[:_MAX_SHOWN]!r}{only}; if you trust this server:"
            " allow_issuer_mismatch=True"
        )
        self.stated, self.expected = stated, expected


class ResourceMismatch(DiscoveryFailed):
    """The protected resource metadata is about another resource than the server we asked.

    Source: RFC 9728 section 3.3.
    """

    def __init__(self, stated: str, server: str) -> None:
        super().__init__(
            f"resource in the metadata is {stated[:_MAX_SHOWN]!r}, which is not the server"
            f" {server[:_MAX_SHOWN]!r}"
        )
        self.stated, self.server = stated, server


class RegistrationRefused(AuthorizationError):
    """No client id could be had from the authorization server."""


class RedirectRefused(AuthorizationError):
    """The redirect does not belong to our request; its code was not used."""


class OAuthError(AuthorizationError):
    """The authorization server answered with `code`, an error code of OAuth."""

    def __init__(self, what: str, code: str, description: str = "") -> None:
        said = f": {description[:_MAX_SHOWN]!r}" if description else ""
        super().__init__(f"{what}: {code[:_MAX_SHOWN]}{said}")
        self.code = code
        self.description = description


class IssuerUnavailable(OAuthError):
    """The authorization server cannot answer now; a refresh token it has issued is kept."""

    def __init__(self, what: str, code: str, description: str = "") -> None:
        super().__init__(what, code, description)
        self.explain("; try again later")


class TokenRefused(AuthorizationError):
    """The server refuses a token its own authorization server has just issued for it."""
