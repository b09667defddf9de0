"""Values against types: what a type accepts, and what a pattern accepts and costs."""
