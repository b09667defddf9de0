"""The protocol without I/O: bytes in, events out; what to send comes back as bytes.

Nothing here opens, sleeps, prints or draws: time, ids and tokens are arguments.
"""
