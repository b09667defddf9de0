"""Shared by all flavours: UNSET, the errors, JSON text, readers, writers and base classes."""
