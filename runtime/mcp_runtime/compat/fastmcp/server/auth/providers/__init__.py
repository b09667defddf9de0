"""Stand-in for `fastmcp.server.auth.providers`: verifiers of tokens, by their kind."""
