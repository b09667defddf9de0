"""Stand-in for `fastmcp.utilities`: helpers."""
