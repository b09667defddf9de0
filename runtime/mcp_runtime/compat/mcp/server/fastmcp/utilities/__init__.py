"""Stand-in for `mcp.server.fastmcp.utilities`: helpers."""
