"""The verb `new`."""
