"""Stand-in for `fastmcp.server`: servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.context import Context
from mcp_runtime.compat.fastmcp.server.server import FastMCP

__all__ = ["Context", "FastMCP"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
