"""Stand-in for `mcp.server.auth`: how a server checks the tokens of its clients."""
