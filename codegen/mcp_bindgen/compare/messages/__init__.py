"""Finds the messages which carry a type, and their directions."""
