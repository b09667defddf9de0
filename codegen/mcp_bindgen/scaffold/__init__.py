"""Writes the project of a new server, and merges newer templates into an older one."""
