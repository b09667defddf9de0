"""The names of clients at the top of the package `mcp`."""

from mcp_runtime.compat.mcp.client.session import ClientSession
from mcp_runtime.compat.mcp.client.stdio import StdioServerParameters, stdio_client

__all__ = ["ClientSession", "StdioServerParameters", "stdio_client"]
