"""Loads public servers with their own packages and with ours, and compares their tools."""
