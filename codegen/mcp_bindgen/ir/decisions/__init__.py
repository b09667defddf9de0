"""Reads and edits schema/decisions.toml."""
