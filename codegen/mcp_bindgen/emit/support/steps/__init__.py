"""What the generated steps share; their `__init__` is a template."""
