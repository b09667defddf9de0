"""The limits on what is read: each has a name, a default and a test."""

from typing import Final

__all__ = [
    "MAX_DEPTH",
    "MAX_INSTANCES",
    "MAX_MESSAGE_BYTES",
    "MAX_OPEN_REQUESTS",
    "MAX_SCHEMA_BYTES",
    "MAX_WEIGHT",
]

MAX_SCHEMA_BYTES: Final = 16 * 1024 * 1024
"""Size of one schema file, in bytes; the largest official one has 0.1 MiB."""

MAX_DEPTH: Final = 64
"""Nesting of brackets, and of types resolved through one another; the official files reach 6."""

MAX_WEIGHT: Final = 100_000
"""Nodes that one resolved type may come to, `Omit` and its like worked out; official: about 100."""

MAX_INSTANCES: Final = 4096
"""Structs that one schema may come to, generics worked out; the official files reach 200."""

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Size of one message that is validated, in bytes; the default of a session's limit too."""

MAX_OPEN_REQUESTS: Final = 10_000
"""Requests of one file that are remembered until their answer is found."""
