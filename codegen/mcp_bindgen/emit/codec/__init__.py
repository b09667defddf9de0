"""Generates codec.py: readers and writers that the dataclass and msgspec flavours share.

A reader takes parsed JSON and its place, checks it against the schema and returns the value; a
writer returns parsed JSON. Above each method that makes code stands what it makes, from a generated
module.
"""
