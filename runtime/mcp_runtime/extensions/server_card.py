"""Server Cards: a server's description of itself, for clients to find before they connect.

    card = server_card.card(server, "https://example.com/mcp")
    server.run(http="127.0.0.1:8000", documents=server_card.documents(card))

Source: the extension's page "Discovery", and the AI Catalog specification.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import json

from mcp_runtime.revisions import latest as t
from mcp_runtime.server.decorators import dispatcher_of
from mcp_runtime.server.http.document import Document
from mcp_runtime.server.server import Server
from mcp_wire.ext.server_card.handlers_msgspec import models

__all__ = ["Remote", "Repository", "ServerCard", "card", "catalog", "documents", "models"]

Remote: TypeAlias = models.Remote
Repository: TypeAlias = models.Repository
ServerCard: TypeAlias = models.ServerCard

_CARD: Final = "application/mcp-server-card+json"
_CATALOG: Final = "application/ai-catalog+json"
_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def card(
    server: Server,
    *remotes: str | Remote,
    name: str | None = None,
    description: str | None = None,
    repository: Repository | None = None,
    meta: Mapping[str, Any] | None = None,
) -> ServerCard:
    """Return the card of a server whose clients reach it at `remotes`.

    A remote is the URL of the endpoint, or a `Remote` with more: headers, variables, another
    transport. `name` is a reversed domain, a slash and a name, such as "com.example/weather", and
    `description` has at most 100 characters; both default to the server's own.

    Raises DecodeError, a ValueError, for a value a card cannot hold.
    """
    info = t.to_wire(server.info)
    given = {
        "name": name,
        "description": description,
        "repository": None if repository is None else models.to_wire(repository),
        "remotes": [_remote(server, remote) for remote in remotes] or None,
        "_meta": meta,
    }
    chosen = {key: value for key, value in given.items() if value is not None}
    return models.from_wire(ServerCard, {"$schema": _SCHEMA, **info, **chosen})


def _remote(server: Server, remote: str | Remote) -> Any:
    if isinstance(remote, Remote):
        return models.to_wire(remote)
    revisions = list(dispatcher_of(server).offer().revisions)
    return {"type": "streamable-http", "url": remote, "supportedProtocolVersions": revisions}


def catalog(*cards: ServerCard) -> dict[str, Any]:
    """Return an AI Catalog of servers: it names where each card is, or holds the card itself."""
    return {"specVersion": "1.0", "entries": [_entry(card) for card in cards]}


def _entry(card: ServerCard) -> dict[str, Any]:
    """Return the catalog's entry of a card: the card's address, below the first URL without
    variables. If all URLs have variables, the entry holds the card itself.
    """
    namespace, _, name = card.name.partition("/")
    publisher = ".".join(reversed(namespace.split(".")))
    remotes = card.remotes or ()
    urls = [remote.url for remote in remotes if remote.type == "streamable-http"]
    place = next((_below(url) for url in urls if not set("{?#") & set(url)), None)
    return {
        "identifier": f"urn:air:{publisher}:mcp:{name}",
        "type": _CARD,
        **({"data": models.to_wire(card)} if place is None else {"url": place}),
    }


def _below(endpoint: str) -> str:
    """Return the address of the card of an endpoint."""
    return f"{endpoint.rstrip('/')}/server-card"


def documents(card: ServerCard, *, path: str = "/mcp") -> dict[str, Document]:
    """Return the card and a catalog of it alone, for `documents` of `asgi` or `run`.

    `path` is the path of the endpoint in the application.
    """
    return {
        _below(path): Document(_CARD, models.encode(card)),
        "/.well-known/ai-catalog.json": Document(_CATALOG, json.encode(catalog(card))),
    }
