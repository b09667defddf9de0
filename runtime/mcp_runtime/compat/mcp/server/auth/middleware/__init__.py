"""The token of the running request."""
