"""Looks into types: their children, the target of an alias, their JSON kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Kind,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)

__all__ = [
    "PARTIAL",
    "alias_of",
    "children",
    "head",
    "holds_struct",
    "is_any",
    "is_never",
    "is_partial",
    "kinds",
    "map_children",
    "recursive",
    "references",
    "resolve_aliases",
    "strip_bounds",
    "struct_of",
]

_BLANK: Final = Prim("unknown")
_ALL_KINDS: Final[frozenset[Kind]] = frozenset(
    ("object", "array", "string", "number", "boolean", "null")
)
_BOOLEAN: Final[frozenset[Kind]] = frozenset(("boolean",))
_STRING: Final[frozenset[Kind]] = frozenset(("string",))
_NUMBER: Final[frozenset[Kind]] = frozenset(("number",))
_ARRAY: Final[frozenset[Kind]] = frozenset(("array",))
_OBJECT: Final[frozenset[Kind]] = frozenset(("object",))


def children(type: Type) -> tuple[Type, ...]:
    """The types directly inside `type`, in written order."""
    match type:
        case Prim() | Lit() | Ref():
            return ()
        case Arr() | Map() | Bounded():
            return (type.of,)
        case Tup():
            places = tuple(element.type for element in type.of)
            return places if type.rest is None else (*places, type.rest)
        case Uni():
            return type.arms


def map_children(type: Type, change: Callable[[Type], Type]) -> Type:
    """`type` with `change` applied to each child."""
    match type:
        case Prim() | Lit() | Ref():
            return type
        case Arr() | Map() | Bounded():
            return replace(type, of=change(type.of))
        case Tup():
            places = tuple(replace(element, type=change(element.type)) for element in type.of)
            return Tup(places, None if type.rest is None else change(type.rest))
        case Uni():
            return replace(type, arms=tuple(map(change, type.arms)))


def head(type: Type) -> Type:
    """`type` without its children. Types with equal heads have equally many children."""
    return map_children(type, lambda _: _BLANK)


def references(type: Type) -> Iterator[str]:
    """The names in `type`, at any depth."""
    if isinstance(type, Ref):
        yield type.name
    for child in children(type):
        yield from references(child)


def recursive(schema: Schema) -> frozenset[str]:
    """The aliases whose values may hold values of the same alias, with no struct between."""
    aliases = [d for d in schema.types.values() if isinstance(d, Alias)]
    inside = {alias.name: set(references(alias.type)) for alias in aliases}
    reached = {name: set(names) for name, names in inside.items()}
    for names in reached.values():
        queue = list(names)
        while queue:
            new = inside.get(queue.pop(), set()) - names
            names |= new
            queue += new
    return frozenset(name for name, names in reached.items() if name in names)


def alias_of(schema: Schema, type: Type) -> Alias | None:
    """The alias named by `type`; None for other types."""
    declared = schema.types[type.name] if isinstance(type, Ref) else None
    return declared if isinstance(declared, Alias) else None


def resolve_aliases(schema: Schema, type: Type) -> Type:
    """`type` with aliases resolved. Bounds stay."""
    while isinstance(type, Ref) and isinstance(alias := schema.types[type.name], Alias):
        type = alias.type
    return type


def strip_bounds(schema: Schema, type: Type) -> Type:
    """Like `resolve_aliases`, with bounds set aside too."""
    while isinstance(type := resolve_aliases(schema, type), Bounded):
        type = type.of
    return type


def struct_of(schema: Schema, type: Type) -> Struct | None:
    """The struct named by `type`, directly or through an alias; None for other types."""
    bare = strip_bounds(schema, type)
    return schema.structs[bare.name] if isinstance(bare, Ref) else None


def is_never(schema: Schema, type: Type) -> bool:
    """Return whether no value is of `type`."""
    bare = resolve_aliases(schema, type)
    return isinstance(bare, Uni) and not bare.arms


def is_any(schema: Schema, type: Type) -> bool:
    """Return whether `type` takes any JSON value."""
    bare = resolve_aliases(schema, type)
    return isinstance(bare, Prim) and bare.name in JSON_PRIMS


def holds_struct(schema: Schema, type: Type) -> bool:
    """Return whether a value of `type` can hold an object with a class of its own."""
    seen: set[Type] = set()
    queue = [type]
    while queue:
        bare = strip_bounds(schema, queue.pop())
        if isinstance(bare, Ref):
            return True
        inner = children(bare)
        if inner and bare not in seen:
            seen.add(bare)
            queue += inner
    return False


def kinds(schema: Schema, type: Type) -> frozenset[Kind]:
    """The JSON kinds of `type`."""
    taken: frozenset[Kind] = frozenset()
    seen: set[Type] = set()
    queue = [type]
    while queue:
        bare = strip_bounds(schema, queue.pop())
        if not isinstance(bare, Uni):
            taken |= _kinds(bare)
        elif bare not in seen:
            seen.add(bare)
            queue += bare.arms
    return taken


def _kinds(type: Type) -> frozenset[Kind]:
    """Like `kinds`, without the arms of a union."""
    match type:
        case Prim():
            return _prim_kinds(type.name)
        case Lit(value=bool()):
            return _BOOLEAN
        case Lit(value=str()):
            return _STRING
        case Lit():
            return _NUMBER
        case Arr() | Tup():
            return _ARRAY
        case Map() | Ref():
            return _OBJECT
        case Uni() | Bounded():
            return frozenset()


def _prim_kinds(name: str) -> frozenset[Kind]:
    if name in JSON_PRIMS:
        return _ALL_KINDS
    return frozenset(kind for kind in _ALL_KINDS if kind == name)


PARTIAL: Final = "!"
"""The last character of the name of an alias whose type is wider than its schema."""


def is_partial(type: Type) -> bool:
    """Return whether a type is an alias which accepts values that its schema refuses."""
    return isinstance(type, Ref) and type.name.endswith(PARTIAL)
