"""The protocol without I/O: bytes in, events out; messages to send are returned as bytes.

No function here opens a file or socket, sleeps, prints or draws a random number: time, ids and
tokens are arguments.
"""
