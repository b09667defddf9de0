"""Views of the model modules: one for each flavour, and the rows that they share."""
