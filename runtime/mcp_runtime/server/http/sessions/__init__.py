"""The sessions of an HTTP server, and the table of those alive."""
