"""Lowers resolved declarations to the model: types, methods, facts, extensions."""
