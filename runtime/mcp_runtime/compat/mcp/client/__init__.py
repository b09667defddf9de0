"""Stand-in for `mcp.client` of `mcp` 1.x."""
