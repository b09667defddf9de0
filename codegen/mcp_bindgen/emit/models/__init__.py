"""Values for the templates of the model modules, one for each flavour, and their common rows."""
