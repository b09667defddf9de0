"""Writes the steps that convert messages between neighbouring revisions."""
