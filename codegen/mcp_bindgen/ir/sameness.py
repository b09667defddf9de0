"""Which resolved types are written alike, and which of two takes all values of the other."""

from __future__ import annotations

from collections.abc import Iterable

from mcp_bindgen.source import syntax

__all__ = ["all_same", "is_keyword", "same"]


def is_keyword(type: syntax.Type, *names: str) -> bool:
    return isinstance(type, syntax.Keyword) and type.name in names


def same(a: syntax.Type, b: syntax.Type) -> bool:
    """Whether two resolved types are written alike, wherever they stand."""
    match a, b:
        case syntax.Keyword(name=x), syntax.Keyword(name=y):
            return x == y
        case syntax.Literal(value=x), syntax.Literal(value=y):
            return type(x) is type(y) and x == y
        case syntax.Ref(), syntax.Ref():
            return a.name == b.name and all_same(a.args, b.args)
        case syntax.Array(), syntax.Array():
            return same(a.of, b.of)
        case syntax.Tuple(), syntax.Tuple():
            flags = [(e.optional, e.rest) for e in a.of] == [(e.optional, e.rest) for e in b.of]
            return flags and all_same([e.of for e in a.of], [e.of for e in b.of])
        case syntax.Union(), syntax.Union():
            return all_same(a.of, b.of)
        case syntax.Template(), syntax.Template():
            return a.text == b.text
        case syntax.Inline(), syntax.Inline():
            return (
                [(m.name, m.optional) for m in a.members]
                == [(m.name, m.optional) for m in b.members]
                and all_same([m.type for m in a.members], [m.type for m in b.members])
                and all_same([i.type for i in a.index], [i.type for i in b.index])
            )
        case _:
            return False


def all_same(a: Iterable[syntax.Type], b: Iterable[syntax.Type]) -> bool:
    xs, ys = list(a), list(b)
    return len(xs) == len(ys) and all(map(same, xs, ys))
