"""Decides whom a change breaks, and proves it with a message."""
