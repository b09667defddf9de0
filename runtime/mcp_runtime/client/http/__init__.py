"""A client over HTTP: Streamable HTTP of both eras, and the older HTTP+SSE."""
