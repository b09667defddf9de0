"""Tells whether a reader's type accepts every value a writer may send under the other schema.

A writer sends declared members with values of their types, and undeclared members of the index
signature's type. It does not send a member by chance under a name known only to the reader (a
*squatter*); such a message does not break the schema. Paired declarations are assumed to agree:
their own differences are reported at their own place.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import starmap
from typing import Any, Final, NamedTuple, TypeAlias

from mcp_bindgen.compare.changes.bounds import concerning, limits_of, tighter
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Arr,
    Bounded,
    Element,
    Field,
    Keyed,
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
from mcp_bindgen.ir.values.accepts import accepts
from mcp_bindgen.ir.values.unlisted import takes
from mcp_bindgen.ir.walk import alias_of, children, head, is_any, is_partial, kinds, resolve_aliases

__all__ = ["Pairs", "Relation", "apart", "leaves", "named"]

Pairs: TypeAlias = frozenset[tuple[str, str]]


def leaves(schema: Schema, type: Type) -> tuple[Type, ...]:
    """The arms of a type, unions inside unions and aliases of unions opened; none twice."""
    opened = named(schema, type)
    if not isinstance(opened, Uni):
        return (type,)
    return tuple(dict.fromkeys(leaf for arm in opened.arms for leaf in leaves(schema, arm)))


def named(schema: Schema, type: Type) -> Type:
    """`type` with its alias resolved; a partial alias stays."""
    while not is_partial(type) and (alias := alias_of(schema, type)):
        type = alias.type
    return type


def _arms(schema: Schema, type: Type) -> tuple[Type, ...]:
    """Like `leaves`, but bounds around a union are repeated in each arm of a kind they apply to."""
    opened = named(schema, type)
    if not isinstance(opened, Bounded):
        return leaves(schema, type)
    inner = _arms(schema, opened.of)
    return (
        (type,) if inner == (opened.of,) else tuple(_within(schema, arm, opened) for arm in inner)
    )


def _within(schema: Schema, arm: Type, around: Bounded) -> Type:
    limits = concerning(around.limits, kinds(schema, arm))
    return arm if limits == Limits() else Bounded(arm, limits)


def apart(old: Schema, a: Type, new: Schema, b: Type) -> bool:
    """Return whether no value belongs to both types, judged by JSON kinds and literals alone."""
    mine, theirs = leaves(old, a), leaves(new, b)
    return not any(_may_meet(old, x, new, y) for x in mine for y in theirs)


def _may_meet(old: Schema, a: Type, new: Schema, b: Type) -> bool:
    if isinstance(a, Lit) and isinstance(b, Lit):
        return a == b
    return bool(kinds(old, a) & kinds(new, b))


class Relation:
    """A writer's and a reader's schema, and the declarations assumed to agree."""

    def __init__(self, writer: Schema, reader: Schema, pairs: Pairs) -> None:
        self.writer, self.reader, self.pairs = writer, reader, pairs
        self._open: set[tuple[Type, Type]] = set()
        self._demands: dict[int, frozenset[str]] = {}

    def holds(self, sent: Type, read: Type) -> bool:
        """Return whether all of `sent` is taken by `read`."""
        if isinstance(sent, Ref) and isinstance(read, Ref):
            if (sent.name, read.name) in self.pairs:
                return True
            if self._demands_more(sent, read):
                return False
        elif not (isinstance(sent, Ref) or isinstance(read, Ref)):
            return self._spread(sent, read)
        pair = (sent, read)
        if pair in self._open:
            return True
        self._open.add(pair)
        try:
            return self._spread(sent, read)
        finally:
            self._open.discard(pair)

    def _demands_more(self, sent: Ref, read: Ref) -> bool:
        """Return whether a struct requires a member which the other struct may lack.

        A cheap first check, since the arms of long unions are compared pair by pair.
        """
        mine, theirs = self.writer.structs.get(sent.name), self.reader.structs.get(read.name)
        if mine is None or theirs is None:
            return False
        return not self._has_required(theirs) <= self._has_required(mine)

    def _has_required(self, struct: Struct) -> frozenset[str]:
        known = self._demands.get(id(struct))
        if known is None:
            names = frozenset(field.wire for field in struct.fields if field.required)
            known = self._demands[id(struct)] = names
        return known

    def _spread(self, sent: Type, read: Type) -> bool:
        """Return whether each arm of `sent` is taken by some arm of `read`."""
        arms, choices = _arms(self.writer, sent), _arms(self.reader, read)
        if arms != (sent,):
            return all(self.holds(arm, read) for arm in arms)
        values = _values(sent)
        if values is not None:
            return all(map(partial(self._takes, choices), values))
        if choices == (read,):
            return self._inside(sent, read)
        if any(self.holds(sent, choice) for choice in choices):
            return True
        return is_partial(sent) and self.holds(resolve_aliases(self.writer, sent), read)

    def _takes(self, choices: tuple[Type, ...], value: Any) -> bool:
        known = (choice for choice in choices if not is_partial(choice))
        return any(accepts(self.reader, choice, value) for choice in known)

    def _inside(self, sent: Type, read: Type) -> bool:
        if is_partial(read):
            return False
        opened, target = resolve_aliases(self.writer, sent), named(self.reader, read)
        if opened is not sent or target is not read:
            return self.holds(opened, target)
        if isinstance(sent, Bounded) or isinstance(read, Bounded):
            return self._within_bounds(sent, read)
        return self._leaf(sent, read)

    def _within_bounds(self, sent: Type, read: Type) -> bool:
        """Compare the bounds, for the kinds of value the writer sends."""
        sorts = kinds(self.writer, sent)
        mine, theirs = (concerning(limits_of(type), sorts) for type in (sent, read))
        if isinstance(read, Bounded):
            return tighter(mine, theirs) and self.holds(sent, read.of)
        assert isinstance(sent, Bounded)
        return self.holds(sent.of, read)

    def _leaf(self, sent: Type, read: Type) -> bool:
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
        """Compare the insides of two types of one kind."""
        if isinstance(sent, Ref) or head(sent) != head(read):
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
        """Return whether every member undeclared by the writer fits `member`, which the reader
        declares.
        """
        return index is None or is_any(self.writer, index) or self.holds(index, member)

    def _objects(self, sent: Type, read: Type) -> bool:
        mine, theirs = _members(self.writer, sent), _members(self.reader, read)
        if mine is None or theirs is None:
            return False
        fields, index = mine.members, mine.unlisted
        wanted, rest = theirs.members, theirs.unlisted
        for wire, field in wanted.items():
            own = fields.get(wire)
            if own is None:
                if field.required or not self._surely(index, field.type):
                    return False
            elif field.required > own.required or not self.holds(own.type, field.type):
                return False
        more = {wire: f.type for wire, f in fields.items() if wire not in wanted}
        if theirs.keyed or mine.keyed:
            return self._keyed_members(mine, theirs, more)
        return rest is None or all(
            self.holds(t, rest) for t in [*more.values(), *([index] if index else [])]
        )

    def _keyed_members(self, mine: _Members, theirs: _Members, more: dict[str, Type]) -> bool:
        """Return whether the writer's members not declared by the reader fit the reader's index
        signatures. At least one of the sides has signatures by template.

        `more` are the members that the writer alone lists.
        """
        for wire, type in more.items():
            named = [k.type for k in theirs.keyed if takes(k, wire)]
            if not all(self.holds(type, t) for t in named or _some(theirs.unlisted)):
                return False
        twins = [(a.type, b.type) for a in mine.keyed for b in theirs.keyed if _may_share(a, b)]
        if not all(starmap(self.holds, twins)):
            return False
        covered = {keyed.pattern for keyed in theirs.keyed}
        rest = [k.type for k in mine.keyed if k.pattern not in covered] + _some(mine.unlisted)
        if not all(self.holds(type, t) for type in rest for t in _some(theirs.unlisted)):
            return False
        own = {keyed.pattern for keyed in mine.keyed}
        open_to = [keyed.type for keyed in theirs.keyed if keyed.pattern not in own]
        return all(self.holds(type, t) for type in _some(mine.unlisted) for t in open_to)


def _values(type: Type) -> tuple[Any, ...] | None:
    """All values of a type, where they are few."""
    match type:
        case Lit():
            return (type.value,)
        case Prim(name="boolean"):
            return (True, False)
        case Prim(name="null"):
            return (None,)
        case _:
            return None


def _tuple(type: Tup | Arr) -> Tup:
    return type if isinstance(type, Tup) else Tup((), type.of)


_BEGINNING: Final = re.compile(r"\^((?:[^\\\[(]|\\.)*)")
"""The literal text, escaped, with which the pattern of a template begins."""


def _may_share(a: Keyed, b: Keyed) -> bool:
    """Return whether one name may match both templates; False only if their beginnings differ."""
    mine, theirs = (_BEGINNING.findall(each.pattern)[0] for each in (a, b))
    return bool(mine.startswith(theirs) or theirs.startswith(mine))


def _some(type: Type | None) -> list[Type]:
    return [] if type is None else [type]


class _Members(NamedTuple):
    """The members of an object type, and the types of unlisted ones."""

    members: dict[str, Field]
    unlisted: Type | None
    keyed: tuple[Keyed, ...] = ()


def _members(schema: Schema, type: Type) -> _Members | None:
    """The members of an object type; None for any other type."""
    match type:
        case Ref() if isinstance(struct := schema.types[type.name], Struct):
            return _Members({f.wire: f for f in struct.fields}, struct.index, struct.keyed)
        case Map():
            return _Members({}, type.of)
        case Prim(name="object"):
            return _Members({}, Prim("unknown"))
        case _:
            return None
