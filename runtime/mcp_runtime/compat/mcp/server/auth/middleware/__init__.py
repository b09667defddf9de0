"""Stand-in for `mcp.server.auth.middleware`: token of the running request."""
