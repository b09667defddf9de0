"""Lays out generated code and writes the annotations in it."""
