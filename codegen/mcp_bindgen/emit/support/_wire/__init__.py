"""What every flavour shares: UNSET, the errors, JSON text, readers, writers, base classes."""
