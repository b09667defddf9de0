"""Speaks the Model Context Protocol: servers and clients, every revision, over any transport.

    from mcp_runtime import Client, Context, Server

Nothing is imported before it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mcp_runtime.client.client import Client as Client
    from mcp_runtime.client.tool_result import ToolFailed as ToolFailed
    from mcp_runtime.client.tool_result import ToolResult as ToolResult
    from mcp_runtime.errors import RpcError as RpcError
    from mcp_runtime.errors import ToolError as ToolError
    from mcp_runtime.limits import Limits as Limits
    from mcp_runtime.revisions import latest as types
    from mcp_runtime.server.context import Context as Context
    from mcp_runtime.server.functions.content import Audio as Audio
    from mcp_runtime.server.functions.content import Embedded as Embedded
    from mcp_runtime.server.functions.content import Image as Image
    from mcp_runtime.server.functions.parameters import Header as Header
    from mcp_runtime.server.server import Server as Server
    from mcp_runtime.shared.digests import definition_digest as definition_digest
    from mcp_runtime.shared.safe_path import AnyPath as AnyPath

__all__ = [
    "AnyPath",
    "Audio",
    "Client",
    "Context",
    "Embedded",
    "Header",
    "Image",
    "Limits",
    "RpcError",
    "Server",
    "ToolError",
    "ToolFailed",
    "ToolResult",
    "definition_digest",
    "types",
]

_FROM: Final = {
    "AnyPath": "shared.safe_path",
    "Audio": "server.functions.content",
    "Client": "client.client",
    "Context": "server.context",
    "Embedded": "server.functions.content",
    "Header": "server.functions.parameters",
    "Image": "server.functions.content",
    "Limits": "limits",
    "RpcError": "errors",
    "Server": "server.server",
    "ToolError": "errors",
    "ToolFailed": "client.tool_result",
    "ToolResult": "client.tool_result",
    "definition_digest": "shared.digests",
    "types": "revisions",
}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_FROM[name]}")
    except AttributeError as error:  # which `from mcp_runtime import …` would take for a wrong name
        raise ImportError(f"{__name__}.{_FROM[name]} cannot be imported: {error}") from error
    return getattr(module, "latest" if name == "types" else name)
