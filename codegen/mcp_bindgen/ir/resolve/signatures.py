"""Index signatures: finds the one that gives the type of an unlisted member.

A signature is by string, by number, or by a template literal type that names must match. As for the
compiler, a name has the types of all signatures that it matches; so those by template are met with
that by string once, and then stand for the names that they match alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mcp_bindgen.ir.resolve.equality import is_keyword
from mcp_bindgen.ir.resolve.templates import pattern
from mcp_bindgen.ir.values.patterns import python_pattern
from mcp_bindgen.source import syntax

__all__ = [
    "NUMERIC",
    "by_name",
    "by_string",
    "is_matched",
    "is_same_key",
    "key_pattern",
    "key_text",
    "matching",
]

NUMERIC: Final = r"^(?:0|-?(?:[1-9][0-9]{0,20}(?:\.[0-9]*[1-9])?|0\.[0-9]*[1-9]))$"
"""The names that are numbers as JavaScript writes them, those with an exponent left out."""


def by_string(index: Sequence[syntax.Index]) -> syntax.Index | None:
    """The signature for every name: the one with key `string`, else the one with key `number`."""
    for name in ("string", "number"):
        for each in index:
            if is_keyword(each.key, name):
                return each
    return None


def by_name(index: Sequence[syntax.Index]) -> tuple[syntax.Index, ...]:
    """The signatures for names which match a pattern."""
    whole = by_string(index)
    return tuple(each for each in index if each is not whole)


def key_pattern(key: syntax.Type) -> str:
    """The regular expression for the names of a signature whose key is not `string`."""
    return pattern(key) if isinstance(key, syntax.Template) else NUMERIC


def key_text(key: syntax.Type) -> str:
    """The key of a signature as TypeScript writes it."""
    return key.text if isinstance(key, syntax.Template) else "number"


def matching(index: Iterable[syntax.Index], name: str) -> Iterator[syntax.Index]:
    """The signatures that apply to the member `name`."""
    for each in index:
        if is_keyword(each.key, "string") or is_matched(each.key, name):
            yield each


def is_same_key(a: syntax.Index, b: syntax.Index) -> bool:
    if isinstance(a.key, syntax.Keyword) and isinstance(b.key, syntax.Keyword):
        return a.key.name == b.key.name
    if isinstance(a.key, syntax.Template) and isinstance(b.key, syntax.Template):
        return key_pattern(a.key) == key_pattern(b.key)
    return False


def is_matched(key: syntax.Type, name: str) -> bool:
    """Return whether a key, a template or `number`, matches a name."""
    return re.search(python_pattern(key_pattern(key)), name) is not None
