"""Judges JSON messages: finds them in a text and checks them against a revision."""
