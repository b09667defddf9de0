"""What clients and servers both need: connections, tracing, threads, and small parsers."""
