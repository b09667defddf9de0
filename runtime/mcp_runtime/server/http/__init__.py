"""Serves MCP over HTTP as an ASGI application."""

from mcp_runtime.server.http.app import HttpApp
from mcp_runtime.server.http.document import Document

__all__ = ["Document", "HttpApp"]
