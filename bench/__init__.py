"""Measurements beside the peers: medians of interleaved pairs, each side in its own interpreter."""
