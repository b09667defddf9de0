"""The verb `install`."""
