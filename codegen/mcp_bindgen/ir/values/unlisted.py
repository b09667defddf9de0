"""Members that a struct does not list: their types, by what index signatures say of their names."""

from __future__ import annotations

import re

from mcp_bindgen.ir.model import Keyed, Struct, Type
from mcp_bindgen.ir.values.patterns import python_pattern

__all__ = ["takes", "types_of"]


def takes(keyed: Keyed, name: str) -> bool:
    """Whether an index signature by template is about a member of that name."""
    return re.search(python_pattern(keyed.pattern), name) is not None


def types_of(struct: Struct, name: str) -> tuple[Type, ...]:
    """The types that an unlisted member of that name must be of, all of them."""
    named = tuple(keyed.type for keyed in struct.keyed if takes(keyed, name))
    return named or (() if struct.index is None else (struct.index,))
