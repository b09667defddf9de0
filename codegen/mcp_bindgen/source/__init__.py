"""Reads schema text into syntax nodes, with their places, doc comments and tags."""

from mcp_bindgen.source.link import link
from mcp_bindgen.source.reader import read, read_source
from mcp_bindgen.source.text import Source

__all__ = ["Source", "link", "read", "read_source"]
