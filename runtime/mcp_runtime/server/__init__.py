"""Servers: registering tools, resources and prompts, and serving them."""
