"""Names declarations and anonymous shapes as reports show them: by wire names, `[]` and `{}`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from mcp_bindgen.compare.changes.change import ITEM, VALUE
from mcp_bindgen.compare.changes.pairing import is_inline
from mcp_bindgen.ir.model import Arr, Map, Ref, Schema, Struct, Tup, Type
from mcp_bindgen.ir.walk import children

__all__ = ["places"]


def places(schema: Schema) -> dict[str, str]:
    """The path of each declaration and anonymous shape, by its name.

    A shape has the path of the place where its declaration writes it. Two shapes at one place, such
    as arms of a union, are told apart by their names in the schema.
    """
    paths = {name: name for name, declared in schema.types.items() if not is_inline(declared)}
    taken = set(paths.values())
    queue = deque((name, path) for name, path in paths.items())
    while queue:
        name, path = queue.popleft()
        for inner, below in _shapes_below(schema, name, path):
            struct = schema.structs[inner]
            if inner not in paths and below not in taken and _is_written_in(struct, path):
                paths[inner] = below
                taken.add(below)
                queue.append((inner, below))
    rest = {name: s.place for name, s in schema.structs.items() if name not in paths}
    return paths | rest


def _is_written_in(struct: Struct, path: str) -> bool:
    """Return whether a shape is written in the declaration at the head of a path."""
    root = struct.place.partition(".")[0]
    return path == root or path.startswith((f"{root}.", f"{root}{ITEM}", f"{root}{VALUE}"))


def _shapes_below(schema: Schema, name: str, path: str) -> Iterator[tuple[str, str]]:
    """The anonymous shapes directly in a declaration or shape, with their paths."""
    declaration = schema.types[name]
    if not isinstance(declaration, Struct):
        yield from _inside(schema, declaration.type, path)
        return
    for field in declaration.fields:
        yield from _inside(schema, field.type, f"{path}.{field.wire}")
    for type in declaration.unlisted:
        yield from _inside(schema, type, path + VALUE)


def _inside(schema: Schema, type: Type, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(type, Ref):
        if is_inline(schema.types[type.name]):
            yield type.name, path
        return
    if isinstance(type, Map):
        path += VALUE
    elif isinstance(type, Arr | Tup):
        path += ITEM
    for child in children(type):
        yield from _inside(schema, child, path)
