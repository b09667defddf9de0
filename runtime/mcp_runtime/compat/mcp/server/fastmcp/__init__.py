"""`FastMCP` of `mcp` 1.x."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.mcp.server.fastmcp.context import Context
from mcp_runtime.compat.mcp.server.fastmcp.server import FastMCP
from mcp_runtime.compat.media import Audio, Image
from mcp_runtime.compat.models import model

if TYPE_CHECKING:
    Icon = model("Icon")

__all__ = ["Audio", "Context", "FastMCP", "Icon", "Image"]


def __getattr__(name: str) -> Any:
    if name == "Icon":
        return model(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
