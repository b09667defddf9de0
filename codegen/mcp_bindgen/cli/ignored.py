"""Finds parts of a schema that change nothing in the bindings: `inspect` lists them, `pull` and
`generate` print a line about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_bindgen import pins
    from mcp_bindgen.source import Source, syntax

__all__ = ["bystanders", "idle_text", "unknown_tags", "unused_generics"]


def idle_text(file: pins.Found) -> Iterator[str]:
    """A line for each text without effect, which begins with its place."""
    for place, path, tag in unknown_tags(file):
        yield f"{place}: {path}: `{tag}` is unknown and ignored"
    for place, name in unused_generics(file):
        yield f"{place}: {name}: no type uses this generic one: left out"
    for place, name, method in bystanders(file):
        yield f"{place}: {name}: names the method {method}, but no union lists it as a message"


def unknown_tags(file: pins.Found) -> Iterator[tuple[str, str, str]]:
    """The place of each, the path of its declaration or member, and the tag as it is written."""
    from mcp_bindgen.ir.lower.tags import is_known
    from mcp_bindgen.source import read_source
    from mcp_bindgen.source.rewrite import paths_of_nodes

    for source in _sources(file):
        for path, node in paths_of_nodes(read_source(source)):
            for tag in node.doc.tags if node.doc else ():
                if not is_known(tag):
                    yield source.place(node.at), path, f"@{tag.name} {tag.rest}".rstrip()


def unused_generics(file: pins.Found) -> Iterator[tuple[str, str]]:
    """The place and name of each generic type unreachable from types without parameters."""
    from mcp_bindgen.source import Source, link

    source, module = link(Source(file.data, file.path), file.imports)
    generic = {d.name: d for d in module.declarations if getattr(d, "params", ())}
    pending: list[syntax.Declaration] = [d for d in module.declarations if d.name not in generic]
    while pending:
        used = generic.keys() & {*_names(pending.pop())}
        pending += map(generic.pop, used)
    for name, declaration in generic.items():
        if name not in module.foreign:
            yield source.place(declaration.at), name


def bystanders(file: pins.Found) -> Iterator[tuple[str, str, str]]:
    """The place and name of each declaration that names a method without being its message, and
    the name of the method.
    """
    from mcp_bindgen.ir.lower import pairs
    from mcp_bindgen.ir.resolve.resolver import Resolver
    from mcp_bindgen.source import Source, link

    resolver = Resolver(*link(Source(file.data, file.path), file.imports))
    for each in pairs.bystanders(resolver):
        yield resolver.source.place(resolver.declared[each.type].at), each.type, each.method


def _sources(file: pins.Found) -> Iterator[Source]:
    """The files in which a schema is written."""
    from mcp_bindgen.source import Source

    yield Source(file.data, file.path)
    yield from {each.path: each for each in file.imports.values() if each.part}.values()


def _names(node: Any) -> Iterator[str]:
    """The names in the references of a node."""
    from mcp_bindgen.source import syntax

    if isinstance(node, syntax.Ref):
        yield node.name
    for child in syntax.children(node):
        yield from _names(child)
