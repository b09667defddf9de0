"""Unions: their arms in deciding order, their tags, and overlapping arms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar

from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Lit,
    Map,
    Prim,
    Ref,
    Schema,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import kinds, strip_bounds, struct_of

__all__ = ["arms", "disjoint", "literals", "overlaps", "own_members", "plainer_arms", "tag"]

_Leaf = TypeVar("_Leaf", bound=Type)

_RANK = {Lit: 0, Ref: 1, Bounded: 2, Tup: 3, Map: 4, Arr: 5, Prim: 6, Uni: 7}


def arms(schema: Schema, type: Type) -> tuple[Type, ...]:
    """The leaves of a union, nested unions opened, most specific first, without duplicates.

    A value's class is the first arm which accepts it, except for `own_members`. More constants,
    then more required members, then more members make an arm more specific; then the schema's order
    counts. The order of a row stays. References to structs and to aliases of other types stay.
    """
    known = schema.arms.get(type)
    if known is None:
        leaves = list(dict.fromkeys(_leaves(schema, type)))
        if not (isinstance(type, Uni) and type.ordered):
            leaves.sort(key=lambda leaf: _generality(schema, leaf))
        known = schema.arms[type] = tuple(leaves)
    return known


def _leaves(schema: Schema, type: Type) -> Iterator[Type]:
    """Like `arms`, in the schema's order; each named union is opened once."""
    seen: set[str] = set()
    queue = [type]
    while queue:
        arm = queue.pop(0)
        opened = strip_bounds(schema, arm) if isinstance(arm, Ref) else arm
        if not isinstance(opened, Uni):
            yield arm
        elif not isinstance(arm, Ref) or arm.name not in seen:
            seen.update([arm.name] if isinstance(arm, Ref) else [])
            queue[:0] = opened.arms


def _generality(schema: Schema, leaf: Type) -> tuple[int, ...]:
    opened = strip_bounds(schema, leaf)
    if struct := struct_of(schema, leaf):
        required = sum(f.required for f in struct.fields)
        return (1, -len(struct.consts), -required, -len(struct.fields))
    if isinstance(opened, Prim) and opened.name in JSON_PRIMS:
        return (9,)
    return (_RANK.get(opened.__class__, 3),)


def own_members(schema: Schema, leaf: Type, other: Type) -> tuple[str, ...]:
    """The optional members of `leaf` beyond a plainer arm, which has all its other members; empty
    if `other` is not plainer.

    Without any of these members both arms accept or neither does, and the value belongs to the
    plainer arm.
    """
    struct, plainer = struct_of(schema, leaf), struct_of(schema, other)
    if struct is None or plainer is None:
        return ()
    if (struct.index, struct.keyed) != (plainer.index, plainer.keyed):
        return ()
    for theirs in plainer.fields:
        mine = struct.field(theirs.wire)
        if mine is None or (mine.type, mine.required) != (theirs.type, theirs.required):
            return ()
    own = [f for f in struct.fields if plainer.field(f.wire) is None]
    return () if any(f.required for f in own) else tuple(f.wire for f in own)


def plainer_arms(
    schema: Schema, leaves: Sequence[_Leaf]
) -> Iterator[tuple[_Leaf, _Leaf, tuple[str, ...]]]:
    """Yield each arm with each later arm that is plainer, and the `own_members` of the first."""
    # A plainer arm requires the same members, so only such arms are compared: a union of 1 000
    # different structs has a million pairs and no plainer arm.
    alike: defaultdict[frozenset[str], list[tuple[int, _Leaf]]] = defaultdict(list)
    structs = [(leaf, struct) for leaf in leaves if (struct := struct_of(schema, leaf))]
    required = [frozenset(f.wire for f in struct.fields if f.required) for _, struct in structs]
    for number, (leaf, _) in enumerate(structs):
        alike[required[number]].append((number, leaf))
    for number, (leaf, _) in enumerate(structs):
        for later, other in alike[required[number]]:
            if later > number and (names := own_members(schema, leaf, other)):
                yield leaf, other, names


def literals(schema: Schema, type: Type) -> frozenset[object]:
    """The values of a type made of literals only; empty for other types."""
    leaves = arms(schema, type) if isinstance(type, Uni) else (type,)
    values = [
        leaf.value for leaf in (strip_bounds(schema, x) for x in leaves) if isinstance(leaf, Lit)
    ]
    return frozenset(values) if len(values) == len(leaves) else frozenset()


def tag(schema: Schema, leaves: tuple[Type, ...]) -> str | None:
    """The wire name of a member with a different string constant in each of several structs."""
    structs = [struct_of(schema, leaf) for leaf in leaves]
    if len(structs) < 2 or None in structs:
        return None
    tables = [{f.wire: f.const for f in s.consts if isinstance(f.const, str)} for s in structs if s]
    for wire in tables[0]:
        values = [table.get(wire) for table in tables]
        if None not in values and len(set(values)) == len(values):
            return wire
    return None


def disjoint(schema: Schema, a: Type, b: Type, _depth: int = 0) -> bool:
    """Return whether no value is accepted by both; False if it is not easily seen."""
    if not kinds(schema, a) & kinds(schema, b):
        return True
    x, y = strip_bounds(schema, a), strip_bounds(schema, b)
    if isinstance(x, Uni) or isinstance(y, Uni):
        return all(
            disjoint(schema, p, q, _depth) for p in _leaves(schema, x) for q in _leaves(schema, y)
        )
    if isinstance(x, Lit) and isinstance(y, Lit):
        return x != y
    left, right = struct_of(schema, x), struct_of(schema, y)
    if left is None or right is None or _depth > 8:
        return False
    for mine in left.fields:
        other = right.field(mine.wire)
        both = other is not None and (mine.required or other.required)
        if both and other is not None and disjoint(schema, mine.type, other.type, _depth + 1):
            return True
    return False


def overlaps(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Each pair of overlapping arms of a named union: union, first, second."""
    for declaration in schema.declarations:
        if isinstance(declaration, Alias) and isinstance(
            strip_bounds(schema, declaration.type), Uni
        ):
            leaves = [leaf for leaf in arms(schema, declaration.type) if struct_of(schema, leaf)]
            for i, a in enumerate(leaves):
                for b in leaves[i + 1 :]:
                    if isinstance(a, Ref) and isinstance(b, Ref) and not disjoint(schema, a, b):
                        yield declaration.name, a.name, b.name
