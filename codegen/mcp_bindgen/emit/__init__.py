"""Writes bindings: the IR becomes views, templates make them text, `tree` writes the files."""

from mcp_bindgen.emit.generate import excerpt, extension, extensions, generate, package
from mcp_bindgen.emit.options import FLAVOURS, Options

__all__ = ["FLAVOURS", "Options", "excerpt", "extension", "extensions", "generate", "package"]
