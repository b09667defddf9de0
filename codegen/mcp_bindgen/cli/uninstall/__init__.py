"""The verb `uninstall`."""
