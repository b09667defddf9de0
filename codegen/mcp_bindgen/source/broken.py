"""Finds the syntax errors of a tree: the first ERROR or MISSING node, and independent later
ones.
"""

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
"""Top-level nodes after which the parser is known to be in step with the text."""


def faults(root: Node) -> list[Node]:
    """The first ERROR or MISSING node of a broken tree, and those of later declarations.

    If a declaration has lost its end, the parser reads the following declarations as parts of it;
    errors in those are not reported.
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
