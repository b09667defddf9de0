"""`mcp-bindgen uninstall`: removes a server from a host's settings."""
