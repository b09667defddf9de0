"""Generates codec.py: readers and writers shared by the dataclass and msgspec flavours.

A reader takes parsed JSON and its place, checks it against the schema and returns the value; a
writer returns parsed JSON. Above each generating method stands a sample of its output, from a
generated module.
"""
