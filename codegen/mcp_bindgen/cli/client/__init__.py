"""`mcp-bindgen client`: writes a typed client of a server, and checks it against the server."""
