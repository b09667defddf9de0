"""Requests to an authorization server: its metadata, a registration, and tokens."""
