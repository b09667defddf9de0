"""Intersections: the type of what two types both accept; a union is intersected arm by arm."""

from __future__ import annotations

import re

from msgspec.structs import replace

from mcp_bindgen.errors import LimitExceeded
from mcp_bindgen.ir.resolving import Resolving
from mcp_bindgen.ir.sameness import all_same, is_keyword, same
from mcp_bindgen.ir.templates import pattern
from mcp_bindgen.limits import MAX_INSTANCES
from mcp_bindgen.source import syntax

__all__ = ["admits", "meet"]


def meet(scope: Resolving, a: syntax.Type, b: syntax.Type, at: int) -> syntax.Type | None:
    """What is both `a` and `b`; None where nothing is."""
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
        return _met(scope, a, b, at)
    if len(mine) * len(theirs) > MAX_INSTANCES:
        raise scope.source.error(
            LimitExceeded, at, f"more than {MAX_INSTANCES} alternatives", "Write those meant."
        )
    arms = [_met(scope, x, y, at) for x in mine for y in theirs]
    left = _once([arm for arm in arms if arm is not None])
    for whole, its_arms in ((a, mine), (b, theirs)):
        if all_same(left, its_arms):
            return whole
    return scope.joined(left, at) if left else None


def _once(arms: list[syntax.Type]) -> list[syntax.Type]:
    kept: list[syntax.Type] = []
    alike: dict[object, list[syntax.Type]] = {}
    for arm in arms:
        others = alike.setdefault(_outline(arm), [])
        if not any(same(arm, other) for other in others):
            others.append(arm)
            kept.append(arm)
    return kept


def _outline(type: syntax.Type) -> object:
    """What is equal in types that are written alike, so that few of many need be compared."""
    match type:
        case syntax.Inline():
            return tuple(member.name for member in type.members)
        case syntax.Literal():
            return type.value
        case _:
            return type.__class__


def _met(scope: Resolving, a: syntax.Type, b: syntax.Type, at: int) -> syntax.Type | None:
    """As `meet`, for types that are not unions."""
    x, y = scope.bare(a), scope.bare(b)
    if admits(y, x):
        return a
    if admits(x, y):
        return b
    if isinstance(x, syntax.Array) and isinstance(y, syntax.Array):
        of = meet(scope, x.of, y.of, at)
        return None if of is None else replace(x, of=of)
    shapes = scope.object_shape(a), scope.object_shape(b)
    if shapes[0] is None or shapes[1] is None:
        return None
    return _merged(scope, shapes[0], shapes[1], at)


def _merged(scope: Resolving, a: syntax.Inline, b: syntax.Inline, at: int) -> syntax.Inline | None:
    members = {m.name: m for m in a.members}
    for member in b.members:
        mine = members.get(member.name)
        if mine is not None:
            optional = mine.optional and member.optional
            type = meet(scope, mine.type, member.type, at)
            if type is None and not optional:
                return None
            member = replace(member, type=type or syntax.Keyword("never", at), optional=optional)
        members[member.name] = member
    index = a.index or b.index
    if a.index and b.index:
        of = meet(scope, a.index[0].type, b.index[0].type, at)
        index = (replace(a.index[0], type=of or syntax.Keyword("never", at)),)
    return scope.weighed(syntax.Inline(tuple(members.values()), index, at))


def admits(wide: syntax.Type, narrow: syntax.Type) -> bool:
    """Whether a type without arms takes all of another, seen by keywords, literals and templates.

    `{}` takes whatever is not an object here; objects are merged with it.
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
