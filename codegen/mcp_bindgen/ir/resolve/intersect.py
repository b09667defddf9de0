"""Intersections: the common values of two types; unions are intersected arm by arm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from mcp_bindgen.errors import LimitExceeded
from mcp_bindgen.ir.resolve.equality import all_same, distinct, is_keyword, same
from mcp_bindgen.ir.resolve.scope import Resolving
from mcp_bindgen.ir.resolve.signatures import by_name, by_string, is_same_key, matching
from mcp_bindgen.ir.resolve.templates import pattern
from mcp_bindgen.limits import MAX_INSTANCES
from mcp_bindgen.source import syntax

__all__ = ["admits", "intersect"]


def intersect(scope: Resolving, a: syntax.Type, b: syntax.Type, at: int) -> syntax.Type | None:
    """The intersection of `a` and `b`; None if it is empty."""
    if is_keyword(a, "never") or is_keyword(b, "never"):
        return None
    if is_keyword(a, "any") or is_keyword(b, "any"):
        return a if is_keyword(a, "any") else b
    if same(a, b) or is_keyword(b, "unknown"):
        return a
    if is_keyword(a, "unknown"):
        return b
    mine, theirs = scope.arms(a), scope.arms(b)
    if len(mine) == 1 and len(theirs) == 1:
        return _intersect_one(scope, a, b, at)
    if len(mine) * len(theirs) > MAX_INSTANCES:
        raise scope.source.error(
            LimitExceeded, at, f"more than {MAX_INSTANCES} alternatives", "Write those meant."
        )
    arms = [_intersect_one(scope, x, y, at) for x in mine for y in theirs]
    left = distinct([arm for arm in arms if arm is not None])
    for whole, its_arms in ((a, mine), (b, theirs)):
        if all_same(left, its_arms):
            return whole
    return scope.union_of(left, at) if left else None


def _intersect_one(scope: Resolving, a: syntax.Type, b: syntax.Type, at: int) -> syntax.Type | None:
    """Like `intersect`, for types other than unions."""
    x, y = scope.bare(a), scope.bare(b)
    if admits(y, x):
        return a
    if admits(x, y):
        return b
    if isinstance(x, syntax.Array) and isinstance(y, syntax.Array):
        of = intersect(scope, x.of, y.of, at)
        return None if of is None else replace(x, of=of)
    mine, theirs = scope.object_shape(a), scope.object_shape(b)
    if mine is None or theirs is None:
        return None
    merged = _merge(scope, mine, theirs, at)
    if merged is None:
        return None
    # what has all of the other keeps its name: `Result & CallToolResult` is `CallToolResult`
    for named, shape in ((b, theirs), (a, mine)):
        if isinstance(named, syntax.Ref) and _alike(merged, shape):
            return named
    return merged


def _alike(a: syntax.Inline, b: syntax.Inline) -> bool:
    """Return whether two shapes have the same members, in any order."""
    mine, theirs = ({m.name: m for m in each.members} for each in (a, b))
    return (
        mine.keys() == theirs.keys()
        and all(
            m.optional == theirs[name].optional and same(m.type, theirs[name].type)
            for name, m in mine.items()
        )
        and all_same(*([t for i in each.index for t in (i.key, i.type)] for each in (a, b)))
    )


def _merge(scope: Resolving, a: syntax.Inline, b: syntax.Inline, at: int) -> syntax.Inline | None:
    members = {m.name: _intersect_member(scope, m, b, at) for m in a.members}
    for member in b.members:
        mine = members.get(member.name)
        member = member if mine else _intersect_member(scope, member, a, at)
        if mine is not None:
            optional = mine.optional and member.optional
            type = intersect(scope, mine.type, member.type, at)
            if type is None and not optional:
                return None
            member = replace(member, type=type or syntax.Keyword("never", at), optional=optional)
        members[member.name] = member
    index = tuple(_merged_indexes(scope, a.index, b.index, at))
    return scope.check_weight(syntax.Inline(tuple(members.values()), index, at))


def _intersect_member(
    scope: Resolving, member: syntax.Member, other: syntax.Inline, at: int
) -> syntax.Member:
    """A member of one shape, its type intersected with the other shape's signatures by template.

    It is unchanged if the other shape lists it, or if the intersection is empty. A signature by
    string does not change it either, as in `{ a: string } & { [key: string]: number }`: authors
    mean the member to have its own type, though the compiler accepts no such value.
    """
    if any(m.name == member.name for m in other.members):
        return member
    for each in matching(by_name(other.index), member.name):
        met = None if is_keyword(each.type, "any") else intersect(scope, member.type, each.type, at)
        member = member if met is None else replace(member, type=met)
    return member


def _merged_indexes(
    scope: Resolving, a: tuple[syntax.Index, ...], b: tuple[syntax.Index, ...], at: int
) -> Iterator[syntax.Index]:
    """The index signatures of both shapes; a signature for some names is intersected with the other
    shape's signature for all names.
    """
    for mine, theirs in ((a, b), (b, a)):
        for each in mine:
            twin = next((t for t in theirs if is_same_key(t, each)), None)
            if twin is not None and mine is b:
                continue
            if isinstance(each.key, syntax.Template):
                twin = twin or by_string(theirs)
            of = each.type if twin is None else intersect(scope, each.type, twin.type, at)
            yield replace(each, type=of or syntax.Keyword("never", at))


def admits(wide: syntax.Type, narrow: syntax.Type) -> bool:
    """Return whether a type without arms accepts all values of another.

    Only keywords, literals and templates are compared. `{}` accepts every other type here; objects
    are merged with it.
    """
    match wide, narrow:
        case syntax.Keyword(name=name), syntax.Literal(value=value):
            return name == _KINDS[value.__class__]
        case syntax.Keyword(name="string"), syntax.Template():
            return True
        case syntax.Template(), syntax.Literal(value=str() as text):
            return re.search(pattern(wide), text) is not None
        case syntax.Keyword(name="object"), syntax.Inline() | syntax.Array() | syntax.Tuple():
            return True
        case syntax.Keyword(name="object"), syntax.Ref():
            return True
        case syntax.Inline(members=(), index=()), syntax.Keyword(name=name):
            return name not in ("null", "undefined", "unknown", "any")
        case (
            syntax.Inline(members=(), index=()),
            syntax.Literal() | syntax.Template() | syntax.Array() | syntax.Tuple(),
        ):
            return True
        case _:
            return same(wide, narrow)


_KINDS = {str: "string", int: "number", float: "number", bool: "boolean"}
