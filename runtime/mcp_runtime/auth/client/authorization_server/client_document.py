"""The document by which a client makes itself known: its URL is the client id.

Source: 2026-07-28 basic/authorization/client-registration, "Client ID Metadata Documents".
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from mcp_runtime.auth.addresses import require_secure
from mcp_runtime.auth.client.authorization_server.registration import client_metadata


def client_document(
    url: str, *, name: str, redirect_uris: Sequence[str], client_uri: str | None = None
) -> bytes:
    """Return the document to serve at `url`, as JSON.

    Raises ValueError for a URL unfit as a client id, DiscoveryFailed for a redirect URI neither
    https nor on the loopback.
    """
    require_document_url(url)
    uris = [require_secure(uri, "a redirect URI") for uri in redirect_uris]
    members = {"client_id": url, **client_metadata(name, uris, "none")}
    if client_uri is not None:
        members["client_uri"] = client_uri
    return msgspec.json.encode(members)


def require_document_url(url: str) -> None:
    """Raise ValueError, DiscoveryFailed for a URL unfit as a client id."""
    require_secure(url, "the URL of the client's document")
    parts = urlsplit(url)
    steps = parts.path.split("/")
    if parts.scheme != "https" or parts.path in ("", "/") or {".", ".."} & set(steps):
        raise ValueError(f"a client's document has an https URL with a path, not {url!r}")
