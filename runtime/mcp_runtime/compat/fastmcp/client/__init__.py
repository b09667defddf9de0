"""Stand-in for `fastmcp.client`: clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.client.client import Client
from mcp_runtime.compat.fastmcp.client.transports import (
    PythonStdioTransport,
    SSETransport,
    StdioTransport,
    StreamableHttpTransport,
)

__all__ = [
    "Client",
    "PythonStdioTransport",
    "SSETransport",
    "StdioTransport",
    "StreamableHttpTransport",
]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
