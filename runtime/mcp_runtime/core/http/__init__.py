"""The rules of MCP for HTTP: media types, origins, and headers that mirror parameters."""
