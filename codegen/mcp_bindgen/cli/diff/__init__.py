"""`mcp-bindgen diff`: reports the changes between two schemas, and the code that they break."""
