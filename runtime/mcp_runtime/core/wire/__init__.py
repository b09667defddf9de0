"""Bytes and JSON-RPC: lines, events of a stream, frames, error codes, and repairs of text."""
