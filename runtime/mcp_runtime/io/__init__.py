"""Thin shells: they move the bytes, tell the time and draw the randomness for the core."""
