"""mcp-bindgen: Python bindings for the Model Context Protocol, generated from its schema.ts."""

__all__ = ["__version__"]

__version__ = "0.2.0"
