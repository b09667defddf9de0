"""A new server project and its upkeep: answers to texts by path, and old texts merged with new."""
