"""Writes the model for other tools and for people: JSON, JSON Schema, TypeScript."""
