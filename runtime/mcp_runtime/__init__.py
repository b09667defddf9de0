"""Speaks the Model Context Protocol: sessions without I/O, and thin shells around them."""
