"""A Python function as a tool: its schemas, its arguments, and its result as content."""
