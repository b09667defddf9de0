"""`mcp-bindgen update`: brings a project that `new` wrote up to date."""
