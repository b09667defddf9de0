"""Helpers of `FastMCP`."""
