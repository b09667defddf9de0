"""Writes the scalars of a place in forms for which Python has a type: bounds and literals.

msgspec reads a number without fraction by the bounds of `int`, and any other by those of `float`,
so both have the same bounds in one union.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from mcp_bindgen.ir.model import Limits

__all__ = ["ARRAYS", "Arms", "Untyped", "bounds", "indistinct", "literals", "scalars", "whole"]

_Node: TypeAlias = dict[str, Any]
_Bounds: TypeAlias = Sequence[tuple[str, str, Callable[[list[Any]], Any]]]
Arms: TypeAlias = Sequence[Sequence[Limits]]
"""The bounds around each arm of one kind."""

_STRINGS: Final[_Bounds] = (("min_length", "minLength", max), ("max_length", "maxLength", min))
ARRAYS: Final[_Bounds] = (("min_items", "minItems", max), ("max_items", "maxItems", min))
_LEAST: Final[_Bounds] = (
    ("minimum", "minimum", max),
    ("exclusive_minimum", "exclusiveMinimum", max),
)
_MOST: Final[_Bounds] = (
    ("maximum", "maximum", min),
    ("exclusive_maximum", "exclusiveMaximum", min),
)
_SCALARS: Final[Mapping[str, _Bounds]] = {
    "string": _STRINGS,
    "number": (*_LEAST, *_MOST),
    "integer": (*_LEAST, *_MOST),
    "boolean": (),
    "null": (),
}
_PLURALS: Final = {"string": "strings", "number": "numbers", "object": "objects", "array": "arrays"}
_MOST_INTEGER: Final = 2**63 - 1
"""The largest integer that msgspec takes as a bound and as a literal."""
_EXACT: Final = 2**53
"""Up to here each integer is a float."""


class Untyped(Exception):
    """Raised for a type which Python cannot express; the text is the reason."""


def indistinct(kind: str) -> str:
    return f"Python cannot tell its {_PLURALS[kind]} apart"


def whole(kind: str, arms: Arms, values: Sequence[Any]) -> _Node:
    """Every value of a kind; only integers where no arm and no literal is another number."""
    integers = all(map(_is_integer, arms)) and all(isinstance(value, int) for value in values)
    return {"type": "integer" if kind == "number" and integers else kind}


def _is_integer(arm: Sequence[Limits]) -> bool:
    return any(each.integer for each in arm)


def bounds(limits: Sequence[Limits], table: _Bounds) -> _Node:
    """The tightest of each bound."""
    node: _Node = {}
    for name, key, choose in table:
        values = [getattr(each, name) for each in limits if getattr(each, name) is not None]
        if values:
            node[key] = choose(values)
    return node


def scalars(kind: str, arms: Arms) -> list[_Node]:
    """Write scalars; an integer and a number are two types in Python. Raises Untyped."""
    nodes: dict[str, _Node] = {}
    for arm in arms:
        type = "integer" if kind == "number" and _is_integer(arm) else kind
        node = {"type": type, **bounds(arm, _SCALARS[kind])}
        if nodes.setdefault(type, node) != node:
            raise Untyped(indistinct(kind))
    if len(nodes) > 1:
        nodes = _numbers(nodes["integer"], nodes["number"])
    for node in nodes.values():
        _require_exact(node)
    return [*nodes.values()]


def _numbers(integer: _Node, number: _Node) -> dict[str, _Node]:
    """An integer or a number, by the bounds of the number. Raises Untyped if it is narrower."""
    for table, sign in ((_LEAST, 1), (_MOST, -1)):
        if _end(integer, table, sign) < _end(number, table, sign):
            raise Untyped(indistinct("number"))
    nodes = {"integer": {**number, "type": "integer"}, "number": number}
    if any(isinstance(bound, float) for bound in number.values()):  # no bound of an integer
        del nodes["integer"]
    return nodes


def _end(node: _Node, table: _Bounds, sign: int) -> tuple[float, bool]:
    """The least value of a range, and whether it is outside; the greatest one, negated, if `sign`
    is -1.
    """
    (_, inside, _), (_, outside, _) = table
    ends: list[tuple[float, bool]] = [(float("-inf"), False)]
    ends += [(sign * node[key], key == outside) for key in (inside, outside) if key in node]
    value, excluded = max(ends)
    if excluded and node["type"] == "integer" and isinstance(value, int):
        return value + 1, False
    return value, excluded


def _require_exact(node: _Node) -> None:
    for bound in node.values():
        if isinstance(bound, str):
            continue
        if node["type"] == "integer" and abs(bound) > _MOST_INTEGER:
            raise Untyped("a bound of it has more than 64 bits")
        if node["type"] == "number" and abs(bound) > _EXACT:
            raise Untyped("a bound of it is more than a float tells apart")


def literals(values: Sequence[Any]) -> _Node:
    """Write literals of one kind. Raises Untyped for one truth value and for a fraction."""
    if isinstance(values[0], bool):
        if len({*values}) == 1:
            raise Untyped("Python has no type of one truth value")
        return {"type": "boolean"}
    if any(isinstance(value, float) for value in values):
        raise Untyped("Python has no type of one fraction")
    if any(isinstance(value, int) and abs(value) > _MOST_INTEGER for value in values):
        raise Untyped("a value of it has more than 64 bits")
    return {"enum": list(dict.fromkeys(values))}
