"""Stand-in for `mcp.server.streamable_http`: its classes, for annotations alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.elsewhere import lacking


class EventStore:
    """A store of events for reconnecting clients. Here `asgi(store=...)` keeps them."""


EventId = str
StreamId = str
EventMessage = Any
EventCallback = Any
MCP_SESSION_ID_HEADER = "mcp-session-id"

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
