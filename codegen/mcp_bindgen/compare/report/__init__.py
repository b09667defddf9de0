"""Writes the findings of a comparison: text, JSON, Markdown, HTML and GitHub annotations."""
