"""Stand-in for `fastmcp.client`: clients."""

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
