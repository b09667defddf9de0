"""Clients of `mcp` 1.x."""
