"""Writes each step of authorization as one line, with every secret masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec

from mcp_runtime.auth.messages import AuthRequest, AuthResponse
from mcp_runtime.errors import counted

Report: TypeAlias = Callable[[str], None]
"""Takes one line at a time."""

_MASK: Final = "***"
_OPEN: Final = frozenset(
    {
        *(
            "audience",
            "authorization_endpoint",
            "authorization_servers",
            "client_id",
            "client_name",
        ),
        *("code_challenge_method", "error", "expires_in", "grant_type", "issuer", "redirect_uri"),
        *("redirect_uris", "registration_endpoint", "requested_token_type", "resource", "scope"),
        *("response_type", "scopes_supported", "token_endpoint", "token_endpoint_auth_method"),
        *("token_type", "application_type", "client_assertion_type", "subject_token_type"),
        *("client_secret_expires_at", "code_challenge_methods_supported", "grant_types"),
        *("issued_token_type", "iss", "token_endpoint_auth_methods_supported"),
    }
)
"""Fields that may be shown; all others are masked, so an unknown secret stays masked."""
_MAX_SHOWN: Final = 200


def request_line(request: AuthRequest) -> str:
    """Return a request as one line: its purpose, URL and fields."""
    fields = masked(dict(_fields(request)))
    said = f" {fields}" if fields else ""
    return f"{request.purpose}: {request.method} {masked_url(request.url)}{said}"


def response_line(response: AuthResponse) -> str:
    """Return a response as one line: its status and fields."""
    challenge = response.headers.get("www-authenticate", "")
    if (members := response.members()) is not None:
        body = masked(members)
    else:
        size = len(response.body)
        body = f"{counted(size, 'byte')}, which are not a JSON object" if size else ""
    return " ".join(filter(None, (f"HTTP {response.status}", body, challenge[:_MAX_SHOWN])))


def masked(values: Mapping[str, Any]) -> str:
    """Return members as `name=value`. Values are masked unless the name is known to be harmless."""
    return " ".join(
        f"{name[:80]}={_mask_unless_harmless(value) if name in _OPEN else _MASK}"
        for name, value in values.items()
    )


def masked_url(url: str) -> str:
    """Return a URL with all but harmless query values masked, and without a user."""
    parts = urlsplit(url)
    query = [(n, v if n in _OPEN else _MASK) for n, v in parse_qsl(parts.query)]
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, urlencode(query, safe="*:/"), ""))


def _fields(request: AuthRequest) -> Mapping[str, Any]:
    if request.headers.get("Content-Type") == "application/json":
        members: dict[str, Any] = msgspec.json.decode(request.body)
        return members
    return dict(parse_qsl(request.body.decode("ascii", "replace")))


def _mask_unless_harmless(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return ascii(text[:_MAX_SHOWN])
