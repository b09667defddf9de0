"""Serves MCP over HTTP as an ASGI application."""
