"""What was written: schema text to frozen syntax nodes with places, doc comments and tags."""

from mcp_bindgen.source.reader import read
from mcp_bindgen.source.text import Source

__all__ = ["Source", "read"]
