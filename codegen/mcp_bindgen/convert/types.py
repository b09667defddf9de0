"""What a walk asks of types: their arms, names and kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Field,
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
from mcp_bindgen.ir.unions import arms

__all__ = [
    "arm_name",
    "identifier",
    "is_any",
    "is_object",
    "is_plain",
    "literals",
    "opened",
    "paths_of",
    "structs_of",
    "takes_objects",
    "value_of",
]


def paths_of(struct: Struct, member: Field) -> tuple[str, ...]:
    """What a row may call a member: in its struct, or where it is declared."""
    own, declared = f"{struct.name}.{member.wire}", f"{member.origin}.{member.wire}"
    return (own, declared) if member.origin and not struct.place else (own,)


def opened(schema: Schema, type: Type) -> Type:
    """`type` with references to aliases followed; bounds stay."""
    while isinstance(type, Ref) and isinstance(found := schema.types[type.name], Alias):
        type = found.type
    return type


def is_any(type: Type) -> bool:
    return isinstance(type, Prim) and type.name in JSON_PRIMS


def is_object(type: Type) -> bool:
    return isinstance(type, Ref | Map) or type == Prim("object")


def takes_objects(type: Type) -> bool:
    return is_any(type) or type == Prim("object") or (isinstance(type, Map) and is_any(type.of))


def value_of(type: Type) -> Type:
    return type.of if isinstance(type, Map) else Prim("unknown")


def is_plain(type: Tup) -> bool:
    return all(isinstance(e.type, Prim | Lit) for e in type.of)


def structs_of(schema: Schema, types: Iterable[Type]) -> Iterator[Struct]:
    for type in types:
        opened = schema.open(type)
        if isinstance(opened, Ref):
            yield schema.structs[opened.name]


def literals(schema: Schema, type: Type) -> frozenset[object]:
    leaves = arms(schema, type) if isinstance(type, Uni) else (type,)
    values = [leaf.value for leaf in map(schema.open, leaves) if isinstance(leaf, Lit)]
    return frozenset(values) if len(values) == len(leaves) else frozenset()


def arm_name(leaf: Type) -> str:
    match leaf:
        case Ref(name=name) | Prim(name=name):
            return name
        case Lit(value=value):
            return str(value)
        case Arr() | Tup():
            return "array"
        case Bounded():
            return arm_name(leaf.of)
        case _:
            return "object"


def identifier(place: str) -> str:
    """A place as part of a Python name."""
    return "".join(c if f"_{c}".isidentifier() else "_" for c in place)
