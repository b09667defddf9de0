"""Unions: their arms in the order that decides, what tells them apart, which of them overlap."""

from __future__ import annotations

from collections.abc import Iterator

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

__all__ = ["arms", "disjoint", "kinds", "overlaps", "tag"]

_ALL_KINDS: frozenset[Kind] = frozenset(("object", "array", "string", "number", "boolean", "null"))
_RANK = {Lit: 0, Ref: 1, Bounded: 2, Tup: 3, Map: 4, Arr: 5, Prim: 6, Uni: 7}


def arms(schema: Schema, type: Type) -> tuple[Type, ...]:
    """The leaves of a union, nested unions opened, most specific first, none twice.

    A value's class is the first arm that accepts it. More constants, then more required members,
    then more members make an arm more specific; the schema's order decides the rest. References to
    structs and to aliases that are no unions stay.
    """
    if type not in schema.arms:
        leaves = dict.fromkeys(_leaves(schema, type))
        ordered = sorted(leaves, key=lambda leaf: _generality(schema, leaf))
        schema.arms[type] = tuple(ordered)
    return schema.arms[type]


def _leaves(schema: Schema, type: Type) -> Iterator[Type]:
    """As `arms`, in the schema's order; each named union is opened once."""
    seen: set[str] = set()
    queue = [type]
    while queue:
        arm = queue.pop(0)
        opened = schema.open(arm) if isinstance(arm, Ref) else arm
        if not isinstance(opened, Uni):
            yield arm
        elif not isinstance(arm, Ref) or arm.name not in seen:
            seen.update([arm.name] if isinstance(arm, Ref) else [])
            queue[:0] = opened.arms


def _generality(schema: Schema, leaf: Type) -> tuple[int, ...]:
    opened = schema.open(leaf)
    if isinstance(opened, Ref):
        struct = schema.structs[opened.name]
        required = sum(f.required for f in struct.fields)
        return (1, -len(struct.consts), -required, -len(struct.fields))
    if isinstance(opened, Prim) and opened.name in JSON_PRIMS:
        return (9,)
    return (_RANK[opened.__class__],)


def kinds(schema: Schema, type: Type) -> frozenset[Kind]:
    """The JSON kinds that a type takes."""
    match opened := schema.open(type):
        case Prim():
            return _prim_kinds(opened.name)
        case Lit(value=bool()):
            return frozenset(("boolean",))
        case Lit(value=str()):
            return frozenset(("string",))
        case Lit():
            return frozenset(("number",))
        case Arr() | Tup():
            return frozenset(("array",))
        case Uni():
            return frozenset(k for arm in _leaves(schema, opened) for k in kinds(schema, arm))
        case _:
            return frozenset(("object",))


def _prim_kinds(name: str) -> frozenset[Kind]:
    if name in JSON_PRIMS:
        return _ALL_KINDS
    return frozenset(kind for kind in _ALL_KINDS if kind == name)


def tag(schema: Schema, leaves: tuple[Type, ...]) -> str | None:
    """The wire name of a member that is a different string constant in each of several structs."""
    structs = [_struct(schema, leaf) for leaf in leaves]
    if len(structs) < 2 or None in structs:
        return None
    tables = [{f.wire: f.const for f in s.consts if isinstance(f.const, str)} for s in structs if s]
    for wire in tables[0]:
        values = [table.get(wire) for table in tables]
        if None not in values and len(set(values)) == len(values):
            return wire
    return None


def _struct(schema: Schema, type: Type) -> Struct | None:
    opened = schema.open(type)
    return schema.structs[opened.name] if isinstance(opened, Ref) else None


def disjoint(schema: Schema, a: Type, b: Type, _depth: int = 0) -> bool:
    """Whether no value is surely accepted by both; False where that is not easily seen."""
    if not kinds(schema, a) & kinds(schema, b):
        return True
    x, y = schema.open(a), schema.open(b)
    if isinstance(x, Uni) or isinstance(y, Uni):
        return all(
            disjoint(schema, p, q, _depth) for p in _leaves(schema, x) for q in _leaves(schema, y)
        )
    if isinstance(x, Lit) and isinstance(y, Lit):
        return x != y
    left, right = _struct(schema, x), _struct(schema, y)
    if left is None or right is None or _depth > 8:
        return False
    for mine in left.fields:
        other = right.field(mine.wire)
        both = other is not None and (mine.required or other.required)
        if both and other is not None and disjoint(schema, mine.type, other.type, _depth + 1):
            return True
    return False


def overlaps(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Each pair of arms of a named union that one value can satisfy: union, first, second."""
    for declaration in schema.declarations:
        if isinstance(declaration, Alias) and isinstance(schema.open(declaration.type), Uni):
            leaves = [leaf for leaf in arms(schema, declaration.type) if _struct(schema, leaf)]
            for i, a in enumerate(leaves):
                for b in leaves[i + 1 :]:
                    if isinstance(a, Ref) and isinstance(b, Ref) and not disjoint(schema, a, b):
                        yield declaration.name, a.name, b.name
