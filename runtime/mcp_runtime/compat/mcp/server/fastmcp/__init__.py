"""`FastMCP` of `mcp` 1.x."""

from mcp_runtime.compat.mcp.server.fastmcp.context import Context
from mcp_runtime.compat.mcp.server.fastmcp.server import FastMCP
from mcp_runtime.compat.media import Audio, Image
from mcp_runtime.compat.models import model

Icon = model("Icon")

__all__ = ["Audio", "Context", "FastMCP", "Icon", "Image"]
