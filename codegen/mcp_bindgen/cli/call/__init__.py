"""`mcp-bindgen call`: calls a tool of a server, or lists its features."""
