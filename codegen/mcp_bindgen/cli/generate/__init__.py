"""`mcp-bindgen generate`: writes the bindings of protocol revisions."""
