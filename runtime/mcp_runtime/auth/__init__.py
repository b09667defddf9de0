"""OAuth 2.1 for MCP over HTTP: how a client gets a token, and how a server checks one."""
