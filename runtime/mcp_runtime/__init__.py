"""Speaks the Model Context Protocol: servers and clients, every revision, over any transport.

    from mcp_runtime import Client, Context, Server

Nothing is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mcp_runtime.client import Client as Client
    from mcp_runtime.content import Audio as Audio
    from mcp_runtime.content import Embedded as Embedded
    from mcp_runtime.content import Image as Image
    from mcp_runtime.context import Context as Context
    from mcp_runtime.errors import Refuse as Refuse
    from mcp_runtime.errors import ToolError as ToolError
    from mcp_runtime.limits import Limits as Limits
    from mcp_runtime.revisions import latest as types
    from mcp_runtime.server import Server as Server
    from mcp_runtime.signature import Header as Header

__all__ = [
    "Audio",
    "Client",
    "Context",
    "Embedded",
    "Header",
    "Image",
    "Limits",
    "Refuse",
    "Server",
    "ToolError",
    "types",
]

_FROM: Final = {
    "Audio": "content",
    "Client": "client",
    "Context": "context",
    "Embedded": "content",
    "Header": "signature",
    "Image": "content",
    "Limits": "limits",
    "Refuse": "errors",
    "Server": "server",
    "ToolError": "errors",
    "types": "revisions",
}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_FROM[name]}")
    return getattr(module, "latest" if name == "types" else name)
