"""The verb `run`."""
