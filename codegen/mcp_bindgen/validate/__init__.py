"""Judges JSON messages: finds them in a text, and says whether a revision admits them."""
