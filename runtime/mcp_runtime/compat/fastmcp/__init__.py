"""The package `fastmcp`, 2.x to 4.x: servers and clients written for it run on this runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp_runtime.compat.elsewhere import missing_name
from mcp_runtime.compat.http import Settings

if TYPE_CHECKING:
    from mcp_runtime.compat.fastmcp.client.client import Client as Client
    from mcp_runtime.compat.fastmcp.server.context import Context as Context
    from mcp_runtime.compat.fastmcp.server.server import FastMCP as FastMCP
    from mcp_runtime.compat.media import Image as Image

__all__ = ["Client", "Context", "FastMCP", "Image", "settings"]

__version__: Final = "3.4.0"
"""The version of `fastmcp` whose names are here."""

settings: Final = Settings()


def __getattr__(name: str) -> Any:
    where: Any
    match name:
        case "Client":
            from mcp_runtime.compat.fastmcp.client import client as where
        case "Context":
            from mcp_runtime.compat.fastmcp.server import context as where
        case "FastMCP":
            from mcp_runtime.compat.fastmcp.server import server as where
        case "Image":
            from mcp_runtime.compat import media as where
        case _:
            raise missing_name("fastmcp", name)
    return getattr(where, name)
