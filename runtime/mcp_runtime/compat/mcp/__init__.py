"""The package `mcp` 1.x: servers and clients written for it run on this runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp_runtime.compat.elsewhere import missing_name
from mcp_runtime.compat.mcp import types

if TYPE_CHECKING:
    from mcp_runtime.compat.errors import McpError as McpError
    from mcp_runtime.compat.errors import (
        UrlElicitationRequiredError as UrlElicitationRequiredError,
    )
    from mcp_runtime.compat.mcp.client.session import ClientSession as ClientSession
    from mcp_runtime.compat.mcp.client.stdio import StdioServerParameters as StdioServerParameters
    from mcp_runtime.compat.mcp.client.stdio import stdio_client as stdio_client
    from mcp_runtime.compat.mcp.server.session import ServerSession as ServerSession
    from mcp_runtime.compat.mcp.server.stdio import stdio_server as stdio_server

__all__ = [
    "ClientSession",
    "McpError",
    "ServerSession",
    "StdioServerParameters",
    "UrlElicitationRequiredError",
    "stdio_client",
    "stdio_server",
    "types",
]
_LAZY: Final = {
    "ClientSession": "client",
    "StdioServerParameters": "client",
    "stdio_client": "client",
    "ServerSession": "server",
    "stdio_server": "server",
    "McpError": "errors",
    "UrlElicitationRequiredError": "errors",
}


def __getattr__(name: str) -> Any:
    where: Any
    match _LAZY.get(name):
        case "client":
            from mcp_runtime.compat.mcp.client import names as where
        case "server":
            from mcp_runtime.compat.mcp.server import stdio as where

            if name == "ServerSession":
                from mcp_runtime.compat import context as where
        case "errors":
            from mcp_runtime.compat import errors as where
        case _:
            if name not in dir(types):
                raise missing_name("mcp", name)
            return getattr(types, name)
    return getattr(where, name)
