"""`mcp-bindgen new`: writes the project of a new server."""
