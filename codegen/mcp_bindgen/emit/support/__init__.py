"""Modules that are copied into every generated package, where they stand as they stand here."""
