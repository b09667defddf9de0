"""Stand-in for `mcp.server.session`: the session in which a server answers a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.context import ServerSession
from mcp_runtime.compat.elsewhere import lacking

ServerSessionT = Any

__all__ = ["ServerSession", "ServerSessionT"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
