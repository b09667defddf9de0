"""The limits on input: each has a name, a default and a test."""

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
    "MAX_SCHEMA_FILES",
    "MAX_TOOLS",
    "MAX_UNIONS",
    "MAX_UNION_TYPES",
    "MAX_WEIGHT",
]

MAX_SCHEMA_BYTES: Final = 16 * 1024 * 1024
"""Size of one schema file, in bytes; the largest official one has 0.1 MiB."""

MAX_SCHEMA_FILES: Final = 64
"""Files of one schema, the first among them; official: 1, a proposal: 3."""

MAX_DEPTH: Final = 64
"""Nesting of brackets, and of types resolved through one another; the official files reach 6."""

MAX_WEIGHT: Final = 100_000
"""Nodes in one resolved type, with `Omit` and the like worked out; official: about 100."""

MAX_INSTANCES: Final = 4096
"""Structs in one schema, with generics worked out; the official files reach 200."""

MAX_MEMBERS: Final = 20_000
"""Members of all structs of one schema, inherited ones with each; official: 530."""

MAX_TYPE_NAME_CHARS: Final = 512
"""Length of an instance's name: its generic declaration, then its arguments; official: 43."""

MAX_ARMS: Final = 10_000
"""Types in one union or intersection, as written; official: 21."""

MAX_UNION_TYPES: Final = 1000
"""Types in one union, nested unions opened and literals left out; a longer `A | B` breaks Python.
"""

MAX_UNIONS: Final = 256
"""Names of unions in one union, a generic with each of its arguments; official: 2."""

MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
"""Size of one validated message, in bytes; also the default of a session's limit."""

MAX_OPEN_REQUESTS: Final = 10_000
"""Requests of one file remembered until their response."""

MAX_ID_CHARS: Final = 256
"""Length of a remembered id, in characters; a response with a longer id matches no request."""

MAX_TOOLS: Final = 4096
"""Tools of one side of `diff --tools`; a server of the field has up to about 100."""

MAX_PLACES: Final = 20_000
"""Places in the schemas of one side's tools, each reference followed."""

MAX_LITERALS: Final = 512
"""Values of one `enum` compared one by one; a longer list is compared as a whole."""

MAX_PATTERN_CHARS: Final = (None, 1024, 128, 48)
"""Length of a text tried on a pattern, by the number of places where matching may restart."""

MAX_NAME_CHARS: Final = 40
"""Length of a new project's name, in characters, so generated lines keep within their width."""

MAX_PROJECT_BYTES: Final = 64 * 1024 * 1024
"""Size of all texts remembered by a project, and of any file read whole; a project of all revisions
has about 2 MiB.
"""

MAX_IMPORT_SECONDS: Final = 300
"""Time for importing the generated output, in seconds; all revisions take about 1."""
