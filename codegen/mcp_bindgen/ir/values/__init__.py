"""Values against types: the accepted values of a type, and the cost of patterns."""
