"""HTTP requests and responses of authorization as plain values; others send and receive them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, TypeVar, runtime_checkable
from urllib.parse import urlencode

import msgspec

from mcp_runtime.auth.errors import DiscoveryFailed, IssuerUnavailable, OAuthError
from mcp_runtime.core.wire.text_repairs import without_mark

_T = TypeVar("_T")
_FAULTS: Final = ("server_error", "temporarily_unavailable")
"""Error codes of OAuth for an authorization server that cannot answer now."""


@dataclass(frozen=True, slots=True)
class AuthRequest:
    """One request to send. `purpose` names its use in words; the body may hold secrets."""

    method: str
    url: str
    purpose: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class AuthResponse:
    """The answer to one request. Names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> bytes:
        """The body without a byte order mark. Source: RFC 8259, section 8.1."""
        return without_mark(self.body)

    def members(self) -> dict[str, Any] | None:
        """Return the body as a JSON object, without null members; None for any other body."""
        try:
            body = msgspec.json.decode(self.text, type=dict[str, Any])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return {name: value for name, value in body.items() if value is not None}

    def json(self, what: str) -> dict[str, Any]:
        """Return the body as a JSON object. Raises DiscoveryFailed for anything else."""
        if (members := self.members()) is None:
            raise DiscoveryFailed(f"{what} is not a JSON object (HTTP {self.status})")
        return members


@dataclass(frozen=True, slots=True)
class Authorize:
    """A person must visit `url`; the reply is the URL they were redirected to."""

    url: str = field(repr=False)
    host: str


Flow: TypeAlias = Generator[AuthRequest | Authorize, Any, _T]
"""Steps of authorization without I/O: a flow yields a request, and is sent the outcome: an
AuthResponse for an AuthRequest, the redirect URL (str) for an Authorize.
"""


class Fetch(Protocol):
    """Sends a request of authorization.

    Refuses addresses inside private networks, reads a bounded body, and follows no redirect.
    Raises Disconnected, TooMuch, DiscoveryFailed.
    """

    async def __call__(self, request: AuthRequest, /) -> AuthResponse: ...

    async def close(self) -> None: ...


@runtime_checkable
class PageGuard(Protocol):
    """A `Fetch` that can also judge the pages a person is sent to."""

    async def require_page(self, url: str, /) -> None:
        """Raise DiscoveryFailed for a page in a private network, unless the server is in it."""
        ...


def get(url: str, purpose: str, headers: Mapping[str, str] | None = None) -> AuthRequest:
    return AuthRequest("GET", url, purpose, {"Accept": "application/json", **(headers or {})})


def form(
    url: str, purpose: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None
) -> AuthRequest:
    """A POST of form fields, as the endpoints of OAuth expect it."""
    kinds = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
        **(headers or {}),
    }
    return AuthRequest("POST", url, purpose, kinds, urlencode(fields).encode())


def oauth_error(
    what: str, response: AuthResponse, secrets: Iterable[str | None] = ()
) -> OAuthError:
    """Return the error of an endpoint of OAuth, as far as its body has one, with our secrets
    masked.

    Source: RFC 6749 section 5.2.
    """
    body = response.members() or {}
    code, description = body.get("error"), body.get("error_description")
    said = [
        code if isinstance(code, str) else f"HTTP {response.status}",
        description if isinstance(description, str) else "",
    ]
    for secret in filter(None, secrets):
        said = [text.replace(secret, "***") for text in said]
    is_busy = response.status >= 500 or response.status == 429
    is_fault = code in _FAULTS or (is_busy and not said[0].startswith("invalid_"))
    return IssuerUnavailable(what, *said) if is_fault else OAuthError(what, *said)
