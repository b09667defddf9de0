"""Shared by clients and servers: connections, tracing, threads, and small parsers."""
