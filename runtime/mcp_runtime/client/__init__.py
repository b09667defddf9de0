"""Clients: connecting to a server, calling its methods, and answering its requests."""
