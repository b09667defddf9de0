"""Finds the messages that carry a type, and the direction in which they travel."""
