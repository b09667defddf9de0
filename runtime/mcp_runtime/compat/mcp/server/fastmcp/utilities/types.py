"""Stand-in for `mcp.server.fastmcp.utilities.types`: images and audio."""

from mcp_runtime.compat.media import Audio, Image

__all__ = ["Audio", "Image"]
