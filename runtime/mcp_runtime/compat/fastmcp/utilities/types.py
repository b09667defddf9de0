"""Images, audio and files."""

from mcp_runtime.compat.media import Audio, File, Image

__all__ = ["Audio", "File", "Image"]
