"""Modules that are copied unchanged into every generated package, at the same relative paths."""
