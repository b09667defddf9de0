"""Several processes that serve the same sessions."""
