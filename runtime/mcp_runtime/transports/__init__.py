"""Byte pipes between two peers: in memory, on standard input and output, to a child process."""
