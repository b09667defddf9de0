"""The limits on what is read: each has a name, a default and a test."""

from typing import Final

__all__ = [
    "MAX_ARMS",
    "MAX_DEPTH",
    "MAX_ID_CHARS",
    "MAX_IMPORT_SECONDS",
    "MAX_INSTANCES",
    "MAX_LITERALS",
    "MAX_MEMBERS",
    "MAX_MESSAGE_BYTES",
    "MAX_NAME_CHARS",
    "MAX_OPEN_REQUESTS",
    "MAX_PATTERN_CHARS",
    "MAX_PLACES",
    "MAX_PROJECT_BYTES",
    "MAX_SCHEMA_BYTES",
    "MAX_TOOLS",
    "MAX_UNIONS",
    "MAX_UNION_TYPES",
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

MAX_MEMBERS: Final = 20_000
"""Members of all structs of one schema, inherited ones with each; official: 530."""

MAX_ARMS: Final = 10_000
"""Types of one union or intersection, as it is written; official: 21."""

MAX_UNION_TYPES: Final = 1000
"""Types of one union, unions in it opened and literals left out; Python reads no longer `A | B`."""

MAX_UNIONS: Final = 256
"""Names of unions that one union is made of, a generic with each of its arguments; official: 2."""

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Size of one message that is validated, in bytes; the default of a session's limit too."""

MAX_OPEN_REQUESTS: Final = 10_000
"""Requests of one file that are remembered until their answer is found."""

MAX_ID_CHARS: Final = 256
"""Length of an id that is remembered; the result of a longer one is judged as any result."""

MAX_TOOLS: Final = 4096
"""Tools of one side of `diff --tools`; a server of the field has up to about 100."""

MAX_PLACES: Final = 20_000
"""Places that the schemas of one side's tools may come to, each reference followed."""

MAX_LITERALS: Final = 512
"""Values of one `enum` that are compared one by one; a longer list is compared as a whole."""

MAX_TYPING_TRIES: Final = 200
"""Times that types are made of one schema of a tool, in search of what none can be made of."""

MAX_PATTERN_CHARS: Final = (None, 1024, 128, 48)
"""Length of a text that a pattern is tried on, by the places from which it may try again."""

MAX_NAME_CHARS: Final = 40
"""Length of a new project's name; with it, each line that is written stays within its width."""

MAX_PROJECT_BYTES: Final = 64 * 1024 * 1024
"""Size of all texts that a project remembers, and of any file that is read whole; a project of
all revisions has about 2 MiB."""

MAX_IMPORT_SECONDS: Final = 300
"""Time in which what would be written must be imported, in seconds; all revisions take about 1."""
