"""Types made of keywords: kinds, bounds, literals, and unions with bounds around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from mcp_bindgen.ir.accepts import accepts
from mcp_bindgen.ir.model import Arr, Bounded, Limits, Lit, Prim, Ref, Schema, Tup, Type, Uni
from mcp_bindgen.limits import MAX_LITERALS
from mcp_bindgen.tools.json_document import Node

__all__ = [
    "ANY",
    "KINDS",
    "NEVER",
    "admitted_kinds",
    "bounded",
    "bounds_of",
    "common_literals",
    "hoisted",
    "literals_of",
    "scalars",
    "union",
]

NEVER: Final = Uni(())
ANY: Final = Prim("unknown")
KINDS: Final = frozenset(("string", "number", "boolean", "null", "array", "object"))
_LOWER: Final = {
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "minLength": "min_length",
    "minItems": "min_items",
}
_UPPER: Final = {
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "maxLength": "max_length",
    "maxItems": "max_items",
}
_CONCERNS: Final = {
    "number": ("minimum", "maximum", "exclusive_minimum", "exclusive_maximum", "integer"),
    "string": ("min_length", "max_length"),
    "array": ("min_items", "max_items"),
}
"""The bounds that concern values of each kind."""


# ---- what schemas that all hold leave


def admitted_kinds(basics: Iterable[Node]) -> tuple[frozenset[str], bool]:
    """The kinds that all of the schemas admit, and whether numbers must be whole."""
    admitted, integer = KINDS, False
    for node in basics:
        named = node.members.get("type")
        if named is not None:
            types = {named} if isinstance(named, str) else set(named)
            integer = integer or ("integer" in types and "number" not in types)
            admitted &= {"number" if kind == "integer" else kind for kind in types}
    return admitted, integer and "number" in admitted


def bounds_of(basics: Sequence[Node], integer: bool) -> Limits:
    """The tightest of each bound; a least length or number of items of 0 is none."""
    tightest: dict[str, Any] = {}
    for table, choose in ((_LOWER, max), (_UPPER, min)):
        for keyword, name in table.items():
            values = [n.members[keyword] for n in basics if keyword in n.members]
            bounds = [value for value in values if not isinstance(value, bool)]
            if bounds:
                tightest[name] = choose(bounds)
    limits = Limits(**tightest, integer=integer)
    return replace(limits, min_length=limits.min_length or None, min_items=limits.min_items or None)


def literals_of(node: Node) -> list[Any] | None:
    """The values that `enum` and `const` leave; None where they cannot be listed one by one."""
    values: list[Any] | None = node.members.get("enum")
    if "const" in node.members:
        const = node.members["const"]
        values = [const] if values is None or const in values else []
    if values is None or len(values) > MAX_LITERALS:
        return None
    return None if any(isinstance(value, list | dict) for value in values) else values


def common_literals(lists: Sequence[Sequence[Any]], base: Type) -> Type:
    """The values that are in all lists and of the type `base`."""
    empty = Schema("", "", "", ())
    first = [_literal(value) for value in lists[0] if accepts(empty, base, value)]
    others = [{_literal(value) for value in values} for values in lists[1:]]
    return union(literal for literal in first if all(literal in each for each in others))


def _literal(value: Any) -> Type:
    if value is None:
        return Prim("null")
    return Lit(int(value) if isinstance(value, float) and value.is_integer() else value)


# ---- types


def scalars(admitted: frozenset[str]) -> list[Type]:
    return [Prim(kind) for kind in ("string", "number", "boolean", "null") if kind in admitted]


def union(arms: Iterable[Type]) -> Type:
    flat = [leaf for arm in arms for leaf in (arm.arms if isinstance(arm, Uni) else (arm,))]
    distinct = tuple(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else Uni(distinct)


def bounded(type: Type, limits: Limits) -> Type:
    """The type within those limits that concern it."""
    kept = _concerning(type, limits)
    return type if kept == Limits() or type == NEVER else Bounded(type, kept)


def hoisted(arms: Sequence[Type]) -> Type:
    """The union of `arms`, with limits around the whole that concern one arm alone anyway."""
    outer: dict[str, Any] = {}
    inner: list[Type] = []
    for number, arm in enumerate(arms):
        if isinstance(arm, Bounded):
            others = _kinds_of(Uni((*arms[:number], *arms[number + 1 :])))
            shared = [n for kind in others for n in _CONCERNS.get(kind, ())]
            limits = {n: getattr(arm.limits, n) for names in _CONCERNS.values() for n in names}
            outer |= {n: v for n, v in limits.items() if n not in shared and v not in (None, False)}
            arm = bounded(arm.of, Limits(**{n: v for n, v in limits.items() if n in shared}))
        inner.append(arm)
    return bounded(union(inner), Limits(**outer))


def _concerning(type: Type, limits: Limits) -> Limits:
    names = [name for kind in _kinds_of(type) for name in _CONCERNS.get(kind, ())]
    return Limits(**{name: getattr(limits, name) for name in names})


def _kinds_of(type: Type) -> frozenset[str]:
    """The kinds that a type takes; of what stands inside itself, none is left out."""
    match type:
        case Prim(name="unknown"):
            return KINDS
        case Prim():
            return frozenset((type.name,))
        case Lit():
            return frozenset((_kind_of(type.value),))
        case Arr() | Tup():
            return frozenset(("array",))
        case Uni():
            return frozenset(kind for arm in type.arms for kind in _kinds_of(arm))
        case Bounded():
            return _kinds_of(type.of)
        case Ref() if type.name.endswith("#"):
            return KINDS
        case _:
            return frozenset(("object",))


def _kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number"
