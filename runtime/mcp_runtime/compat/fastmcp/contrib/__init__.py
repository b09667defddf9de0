"""Stand-in for `fastmcp.contrib`."""
