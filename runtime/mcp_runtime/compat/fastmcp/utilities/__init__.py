"""Helpers of `fastmcp`."""
