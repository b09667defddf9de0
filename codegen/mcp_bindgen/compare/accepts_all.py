"""Whether one schema's reader takes all that the other schema's writer may send.

A writer sends declared members of their declared types, and of an index signature's type what has
no name of its own. It does not send, by chance, a member under a name that only the reader knows
(a *squatter*): that is no break of the schema.
Declarations that are paired are taken as agreeing: their own differences are found where they are.
"""

from __future__ import annotations

from typing import TypeAlias

from mcp_bindgen.ir.accepts import accepts
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Arr,
    Bounded,
    Element,
    Field,
    Limits,
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
from mcp_bindgen.ir.walk import children, head, is_any, kinds, unaliased

__all__ = ["Pairs", "Relation", "apart", "leaves", "tighter"]

Pairs: TypeAlias = frozenset[tuple[str, str]]


def leaves(schema: Schema, type: Type) -> tuple[Type, ...]:
    """The arms of a type, unions inside unions and aliases of unions opened; none twice."""
    opened = unaliased(schema, type)
    if not isinstance(opened, Uni):
        return (type,)
    return tuple(dict.fromkeys(leaf for arm in opened.arms for leaf in leaves(schema, arm)))


def apart(old: Schema, a: Type, new: Schema, b: Type) -> bool:
    """Whether no value is of both types, seen by their kinds and literals alone."""
    mine, theirs = leaves(old, a), leaves(new, b)
    return not any(_may_meet(old, x, new, y) for x in mine for y in theirs)


def _may_meet(old: Schema, a: Type, new: Schema, b: Type) -> bool:
    if isinstance(a, Lit) and isinstance(b, Lit):
        return a == b
    return bool(kinds(old, a) & kinds(new, b))


class Relation:
    """A writer's and a reader's schema, and the declarations that are taken as agreeing."""

    def __init__(self, writer: Schema, reader: Schema, pairs: Pairs) -> None:
        self.writer, self.reader, self.pairs = writer, reader, pairs
        self._open: set[tuple[str, str]] = set()

    def holds(self, sent: Type, read: Type) -> bool:
        """Whether all of `sent` is taken by `read`."""
        if isinstance(sent, Ref) and isinstance(read, Ref):
            return self._named(sent, read)
        if isinstance(sent, Bounded) and isinstance(read, Bounded):
            return tighter(sent.limits, read.limits) and self.holds(sent.of, read.of)
        return self._opened(sent, read)

    def _named(self, sent: Ref, read: Ref) -> bool:
        pair = (sent.name, read.name)
        if pair in self.pairs or pair in self._open:
            return True
        self._open.add(pair)
        try:
            return self._opened(sent, read)
        finally:
            self._open.discard(pair)

    def _opened(self, sent: Type, read: Type) -> bool:
        arms = leaves(self.writer, sent)
        if len(arms) != 1 or arms[0] != sent:
            return all(self.holds(arm, read) for arm in arms)
        if isinstance(sent, Lit):
            return accepts(self.reader, read, sent.value)
        if isinstance(sent, Prim) and sent.name == "boolean":
            return all(accepts(self.reader, read, value) for value in (True, False))
        if isinstance(sent, Prim) and sent.name == "null":
            return accepts(self.reader, read, None)
        choices = leaves(self.reader, read)
        if len(choices) != 1 or choices[0] != read:
            return any(self.holds(sent, choice) for choice in choices)
        return self._leaf(sent, read)

    def _leaf(self, sent: Type, read: Type) -> bool:
        opened, target = unaliased(self.writer, sent), unaliased(self.reader, read)
        if opened is not sent or target is not read:
            return self.holds(opened, target)
        if isinstance(sent, Bounded):
            return self.holds(sent.of, read)
        match sent, read:
            case _, Prim(name=name) if name in JSON_PRIMS:
                return True
            case Prim(), Prim():
                return sent.name == read.name
            case ((Ref() | Map()), Prim(name="object")):
                return True
            case _, Prim():
                return False
            case ((Tup() | Arr()), (Tup() | Arr())):
                return self._tuples(_tuple(sent), _tuple(read))
            case _:
                return self._alike(sent, read) or self._objects(sent, read)

    def _alike(self, sent: Type, read: Type) -> bool:
        """For two types of one kind: whether what is inside the one is taken by the other's."""
        if head(sent) != head(read):
            return False
        return all(map(self.holds, children(sent), children(read)))

    def _tuples(self, sent: Tup, read: Tup) -> bool:
        for number, place in enumerate(read.of):
            mine = sent.of[number] if number < len(sent.of) else None
            if mine is None and sent.rest is not None:
                mine = Element(sent.rest, True)
            if mine is None:
                return all(p.optional for p in read.of[number:])
            if (mine.optional and not place.optional) or not self.holds(mine.type, place.type):
                return False
        beyond = [p.type for p in sent.of[len(read.of) :]] + ([sent.rest] if sent.rest else [])
        return all(read.rest is not None and self.holds(t, read.rest) for t in beyond)

    def _surely(self, index: Type | None, member: Type) -> bool:
        """Whether what stands under a name that the writer does not declare fits the reader's."""
        return index is None or is_any(self.writer, index) or self.holds(index, member)

    def _objects(self, sent: Type, read: Type) -> bool:
        mine, theirs = _members(self.writer, sent), _members(self.reader, read)
        if mine is None or theirs is None:
            return False
        (fields, index), (wanted, rest) = mine, theirs
        for wire, field in wanted.items():
            own = fields.get(wire)
            if own is None:
                if field.required or not self._surely(index, field.type):
                    return False
            elif field.required > own.required or not self.holds(own.type, field.type):
                return False
        more = [f.type for wire, f in fields.items() if wire not in wanted]
        return rest is None or all(
            self.holds(t, rest) for t in [*more, *([index] if index else [])]
        )


def _tuple(type: Tup | Arr) -> Tup:
    return type if isinstance(type, Tup) else Tup((), type.of)


def _members(schema: Schema, type: Type) -> tuple[dict[str, Field], Type | None] | None:
    """The members and the type of unlisted ones; None for what is no object type."""
    match type:
        case Ref() if isinstance(struct := schema.types[type.name], Struct):
            return {f.wire: f for f in struct.fields}, struct.index
        case Map():
            return {}, type.of
        case Prim(name="object"):
            return {}, Prim("unknown")
        case _:
            return None


def tighter(mine: Limits, theirs: Limits) -> bool:
    """Whether all within `mine` is within `theirs`."""
    lower = _at_least(mine.minimum, mine.exclusive_minimum) >= _at_least(
        theirs.minimum, theirs.exclusive_minimum
    )
    upper = _at_most(mine.maximum, mine.exclusive_maximum) <= _at_most(
        theirs.maximum, theirs.exclusive_maximum
    )
    return (
        lower
        and upper
        and (mine.integer or not theirs.integer)
        and all(_covers(mine, theirs, name) for name in ("items", "length"))
    )


def _at_least(bound: float | None, exclusive: float | None) -> tuple[float, bool]:
    bounds = [(b, e) for b, e in ((bound, False), (exclusive, True)) if b is not None]
    return max(bounds, default=(float("-inf"), False))


def _at_most(bound: float | None, exclusive: float | None) -> tuple[float, bool]:
    bounds = [(b, e) for b, e in ((bound, True), (exclusive, False)) if b is not None]
    return min(bounds, default=(float("inf"), True))


def _covers(mine: Limits, theirs: Limits, name: str) -> bool:
    def bound(limits: Limits, side: str, absent: float) -> float:
        limit = getattr(limits, f"{side}_{name}")
        return absent if limit is None else float(limit)

    return bound(mine, "min", 0) >= bound(theirs, "min", 0) and bound(
        mine, "max", float("inf")
    ) <= bound(theirs, "max", float("inf"))
