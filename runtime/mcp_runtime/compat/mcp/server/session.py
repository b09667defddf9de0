"""Stand-in for `mcp.server.session`: the session in which a server answers a request."""

from __future__ import annotations

from typing import Any

from mcp_runtime.compat.context import ServerSession

ServerSessionT = Any

__all__ = ["ServerSession", "ServerSessionT"]
