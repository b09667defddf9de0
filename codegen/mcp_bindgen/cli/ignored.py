"""Finds text without effect in a schema file: `inspect` lists it, and `generate` warns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_bindgen import pins
    from mcp_bindgen.source import syntax

__all__ = ["unknown_tags", "unused_generics"]


def unknown_tags(file: pins.Found) -> Iterator[tuple[str, str, str]]:
    """The place of each, the path of its declaration or member, and the tag as it is written."""
    from mcp_bindgen.ir.lower.tags import is_known
    from mcp_bindgen.source import Source, read_source
    from mcp_bindgen.source.rewrite import paths_of_nodes

    source = Source(file.data, file.path)
    for path, node in paths_of_nodes(read_source(source)):
        for tag in node.doc.tags if node.doc else ():
            if not is_known(tag):
                yield source.place(node.at), path, f"@{tag.name} {tag.rest}".rstrip()


def unused_generics(file: pins.Found) -> Iterator[tuple[str, str]]:
    """The place and name of each generic type unreachable from types without parameters."""
    from mcp_bindgen.source import Source, read_source

    source = Source(file.data, file.path)
    module = read_source(source)
    generic = {d.name: d for d in module.declarations if getattr(d, "params", ())}
    pending: list[syntax.Declaration] = [d for d in module.declarations if d.name not in generic]
    while pending:
        used = generic.keys() & {*_names(pending.pop())}
        pending += map(generic.pop, used)
    for name, declaration in generic.items():
        yield source.place(declaration.at), name


def _names(node: Any) -> Iterator[str]:
    """The names in the references of a node."""
    from mcp_bindgen.source import syntax

    if isinstance(node, syntax.Ref):
        yield node.name
    for child in syntax.children(node):
        yield from _names(child)
