"""The verb `call`."""
