"""Compares two schemas: lists the changes, and judges whom each change breaks."""
