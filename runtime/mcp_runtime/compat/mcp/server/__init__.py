"""Stand-in for `mcp.server` of `mcp` 1.x."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.mcp.server.fastmcp.server import FastMCP
from mcp_runtime.compat.mcp.server.lowlevel.server import NotificationOptions, Server
from mcp_runtime.compat.mcp.server.models import InitializationOptions

__all__ = ["FastMCP", "InitializationOptions", "NotificationOptions", "Server"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
