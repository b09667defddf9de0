"""Stand-in for `fastmcp.dependencies`: values of parameters, computed for each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.dependencies import (
    CurrentAccessToken,
    CurrentContext,
    CurrentFastMCP,
    CurrentHeaders,
    CurrentRequest,
    Depends,
)

__all__ = [
    "CurrentAccessToken",
    "CurrentContext",
    "CurrentFastMCP",
    "CurrentHeaders",
    "CurrentRequest",
    "Depends",
]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
