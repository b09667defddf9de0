"""`mcp-bindgen run`: serves a server that is written in Python."""
