"""The verb `update`."""
