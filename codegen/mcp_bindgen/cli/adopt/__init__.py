"""The verb `adopt`."""
