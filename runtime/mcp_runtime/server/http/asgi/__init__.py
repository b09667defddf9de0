"""ASGI: a request with its checks, and responses as JSON or as a stream of events."""
