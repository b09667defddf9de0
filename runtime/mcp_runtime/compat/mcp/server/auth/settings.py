"""Stand-in for `mcp.server.auth.settings`: settings of a server whose clients need a token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class ClientRegistrationOptions:
    """Options of client registration, which a server here does not offer."""

    enabled: bool = False
    client_secret_expiry_seconds: int | None = None
    valid_scopes: list[str] | None = None
    default_scopes: list[str] | None = None


@dataclass
class RevocationOptions:
    """Options of token revocation, which a server here does not offer."""

    enabled: bool = False


@dataclass
class AuthSettings:
    """The authorization server, and the URI of this one."""

    issuer_url: Any
    resource_server_url: Any = None
    service_documentation_url: Any = None
    client_registration_options: ClientRegistrationOptions | None = None
    revocation_options: RevocationOptions | None = None
    required_scopes: list[str] | None = None
