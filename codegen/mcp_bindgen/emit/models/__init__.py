"""Writes the model modules: one view for each flavour, and the codecs they share."""
