"""Reads lists of tools: JSON documents and the JSON Schemas in them, as types of the IR."""
