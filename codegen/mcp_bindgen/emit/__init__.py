"""Writes bindings: IR to views, views to templates, templates to texts. Only tree writes files."""

from mcp_bindgen.emit.generate import excerpt, extension, extensions, generate, package
from mcp_bindgen.emit.options import FLAVOURS, Options

__all__ = ["FLAVOURS", "Options", "excerpt", "extension", "extensions", "generate", "package"]
