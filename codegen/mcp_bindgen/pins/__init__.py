"""Which official file each schema of ours comes from, and how a schema is found and read."""

from mcp_bindgen.pins.files import (
    Found,
    extension_named,
    find,
    place,
    schema_path,
)
from mcp_bindgen.pins.meaning import (
    by_facts,
    decisions,
    extension,
    extension_decisions,
    load,
    lower,
    lower_alike,
    meaning,
    resolve,
)
from mcp_bindgen.pins.table import (
    Pin,
    extensions,
    official,
    parse,
    pins,
    read_bytes,
    read_text,
    render,
    require_name,
    revisions,
)

__all__ = [
    "Found",
    "Pin",
    "by_facts",
    "decisions",
    "extension",
    "extension_decisions",
    "extension_named",
    "extensions",
    "find",
    "load",
    "lower",
    "lower_alike",
    "meaning",
    "official",
    "parse",
    "pins",
    "place",
    "read_bytes",
    "read_text",
    "render",
    "require_name",
    "resolve",
    "revisions",
    "schema_path",
]
