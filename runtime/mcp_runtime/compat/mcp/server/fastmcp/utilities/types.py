"""Images and audio."""

from mcp_runtime.compat.media import Audio, Image

__all__ = ["Audio", "Image"]
