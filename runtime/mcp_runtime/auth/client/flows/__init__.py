"""Flows: sign a person in, or prove a machine's identity, and keep the tokens fresh."""
