"""`mcp-bindgen install`: adds a server to a host's settings."""
