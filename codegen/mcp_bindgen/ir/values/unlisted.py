"""Finds the types of a member that a struct does not list, from its index signatures."""

from __future__ import annotations

import re

from mcp_bindgen.ir.model import Keyed, Struct, Type
from mcp_bindgen.ir.values.patterns import python_pattern

__all__ = ["takes", "types_of"]


def takes(keyed: Keyed, name: str) -> bool:
    """Return whether an index signature by template applies to a member of that name."""
    return re.search(python_pattern(keyed.pattern), name) is not None


def types_of(struct: Struct, name: str) -> tuple[Type, ...]:
    """The types of an unlisted member of that name; its value must be of all of them."""
    named = tuple(keyed.type for keyed in struct.keyed if takes(keyed, name))
    return named or (() if struct.index is None else (struct.index,))
