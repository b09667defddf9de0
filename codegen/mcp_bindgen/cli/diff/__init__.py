"""`mcp-bindgen diff`: reports the changes between two schemas, and whom they break."""
