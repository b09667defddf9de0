"""Tells whether two resolved types are written alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from mcp_bindgen.source import syntax

__all__ = ["all_same", "distinct", "is_keyword", "same"]


def is_keyword(type: syntax.Type, *names: str) -> bool:
    return isinstance(type, syntax.Keyword) and type.name in names


def same(a: syntax.Type, b: syntax.Type, *, loosely: bool = False) -> bool:
    """Return whether two resolved types are written alike, at whatever places of the text.

    Loosely, any equals unknown, since no value tells them apart.
    """
    match a, b:
        case syntax.Keyword(name=x), syntax.Keyword(name=y):
            return x == y or (loosely and {x, y} == {"any", "unknown"})
        case syntax.Literal(value=x), syntax.Literal(value=y):
            return type(x) is type(y) and x == y
        case syntax.Ref(), syntax.Ref():
            return a.name == b.name and all_same(a.args, b.args, loosely=loosely)
        case syntax.Array(), syntax.Array():
            return same(a.of, b.of, loosely=loosely)
        case syntax.Tuple(), syntax.Tuple():
            flags = [(e.optional, e.rest) for e in a.of] == [(e.optional, e.rest) for e in b.of]
            return flags and all_same([e.of for e in a.of], [e.of for e in b.of], loosely=loosely)
        case syntax.Union(), syntax.Union():
            return all_same(a.of, b.of, loosely=loosely)
        case syntax.Template(), syntax.Template():
            return a.text == b.text
        case syntax.Inline(), syntax.Inline():
            names = [(m.name, m.optional) for m in a.members]
            return names == [(m.name, m.optional) for m in b.members] and all_same(
                [*(m.type for m in a.members), *(t for i in a.index for t in (i.key, i.type))],
                [*(m.type for m in b.members), *(t for i in b.index for t in (i.key, i.type))],
                loosely=loosely,
            )
        case _:
            return False


def all_same(a: Sequence[syntax.Type], b: Sequence[syntax.Type], *, loosely: bool = False) -> bool:
    return len(a) == len(b) and all(same(x, y, loosely=loosely) for x, y in zip(a, b, strict=True))


_T = TypeVar("_T", bound=syntax.Type)


def distinct(types: Sequence[_T]) -> list[_T]:
    """The types without duplicates."""
    kept: list[_T] = []
    alike: dict[object, list[_T]] = {}
    for type in types:
        others = alike.setdefault(_outline(type), [])
        if not any(same(type, other) for other in others):
            others.append(type)
            kept.append(type)
    return kept


def _outline(type: syntax.Type) -> object:
    """A hash-like key, equal for types written alike, so only few need to be compared."""
    match type:
        case syntax.Inline():
            return tuple((m.name, m.optional, _outline(m.type)) for m in type.members)
        case syntax.Literal():
            return type.value
        case syntax.Ref():
            return type.name
        case _:
            return type.__class__
