"""What changed between two schemas, and whom each change breaks."""
