"""Lists every difference between two schemas, without an opinion."""
