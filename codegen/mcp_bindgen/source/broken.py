"""Finds where a syntax tree is broken: the first place, and those that do not follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from tree_sitter import Node

__all__ = ["faults"]

_MOST: Final = 10
"""How many are shown at once."""

_WHOLE: Final = frozenset(
    {
        "comment",
        "export_statement",
        "import_statement",
        "interface_declaration",
        "lexical_declaration",
        "type_alias_declaration",
    }
)
"""What stands at the top of a file that the parser has kept in step with."""


def faults(root: Node) -> list[Node]:
    """The first ERROR or MISSING node of a tree that has one, and those of later declarations.

    Where a declaration has lost its end, the parser takes the next ones for parts of it: what
    follows is not looked at.
    """
    return list(islice(_faults(root), _MOST)) or [_innermost(root)]


def _faults(root: Node) -> Iterator[Node]:
    broken = False
    for node in root.children:
        if broken and node.type not in _WHOLE:
            return
        if _is_broken(node):
            yield _innermost(node)
            broken = True
            if node.type not in _WHOLE:
                return


def _innermost(node: Node) -> Node:
    while not (node.is_error or node.is_missing):
        node = next(child for child in node.children if _is_broken(child))
    return node


def _is_broken(node: Node) -> bool:
    return node.has_error or node.is_error or node.is_missing
