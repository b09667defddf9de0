"""Serves MCP over HTTP as an ASGI application."""

from mcp_runtime.server.http.app import HttpApp

__all__ = ["HttpApp"]
