"""Types made of keywords: kinds, bounds, literals, and unions with bounds around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from mcp_bindgen.ir.model import Arr, Bounded, Limits, Lit, Prim, Ref, Schema, Tup, Type, Uni
from mcp_bindgen.ir.values.accepts import accepts
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
    "hoist",
    "kinds_of_literals",
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
_NO_ALIASES: Final[Mapping[str, Type]] = {}


# ---- what schemas that all hold leave


def admitted_kinds(basics: Iterable[Node]) -> tuple[frozenset[str], bool]:
    """The JSON kinds which all schemas admit, and whether numbers must be integers."""
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
            bounds = [_whole(value) for value in values if not isinstance(value, bool)]
            if bounds:
                tightest[name] = choose(bounds)
    limits = Limits(**tightest, integer=integer)
    return replace(limits, min_length=limits.min_length or None, min_items=limits.min_items or None)


def _whole(bound: Any) -> Any:
    """The bound as an integer if it has no fraction: 1e3 is 1000."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound


def literals_of(node: Node) -> list[Any] | None:
    """The values allowed by `enum` and `const`; None if they cannot be listed."""
    values: list[Any] | None = node.members.get("enum")
    if "const" in node.members:
        const = node.members["const"]
        values = [const] if values is None or _is_among(const, values) else []
    if values is None or len(values) > MAX_LITERALS:
        return None
    return None if any(isinstance(value, list | dict) for value in values) else values


def _is_among(value: Any, values: Iterable[Any]) -> bool:
    """Return whether `value` is in `values`, by JSON equality: true is not 1, and 1.0 is."""
    return any(value == other and _kind_of(value) == _kind_of(other) for other in values)


def kinds_of_literals(basics: Iterable[Node]) -> frozenset[str]:
    """The JSON types that `enum` and `const` of all these schemas allow."""
    kinds = KINDS
    for node in basics:
        if "const" in node.members:
            kinds &= {_kind_of(node.members["const"])}
        if "enum" in node.members:
            kinds &= {_kind_of(value) for value in node.members["enum"]}
    return kinds


def common_literals(lists: Sequence[Sequence[Any]], base: Type) -> Type:
    """The values common to all lists, if they are of the type `base`."""
    empty = Schema("", "", "", ())
    first = [_literal(value) for value in lists[0] if accepts(empty, base, value)]
    others = [{_literal(value) for value in values} for values in lists[1:]]
    return union(literal for literal in first if all(literal in each for each in others))


def _literal(value: Any) -> Type:
    if value is None:
        return Prim("null")
    return Lit(_whole(value))


# ---- types


def scalars(admitted: frozenset[str]) -> list[Type]:
    return [Prim(kind) for kind in ("string", "number", "boolean", "null") if kind in admitted]


def union(arms: Iterable[Type]) -> Type:
    flat = [leaf for arm in arms for leaf in (arm.arms if isinstance(arm, Uni) else (arm,))]
    distinct = tuple(dict.fromkeys(flat))
    return distinct[0] if len(distinct) == 1 else Uni(distinct)


def bounded(type: Type, limits: Limits, aliases: Mapping[str, Type] = _NO_ALIASES) -> Type:
    """The type with the bounds which apply to it."""
    names = [name for kind in _kinds_of(type, aliases) for name in _CONCERNS.get(kind, ())]
    kept = Limits(**{name: getattr(limits, name) for name in names})
    return type if kept == Limits() or type == NEVER else Bounded(type, kept)


def hoist(arms: Sequence[Type], aliases: Mapping[str, Type]) -> Type:
    """The union of `arms`; bounds which apply to one arm only move around the union.

    `aliases` has the types of known names; other names may stand for any type.
    """
    outer: dict[str, Any] = {}
    inner: list[Type] = []
    for number, arm in enumerate(arms):
        if isinstance(arm, Bounded):
            others = _kinds_of(Uni((*arms[:number], *arms[number + 1 :])), aliases)
            shared = [n for kind in others for n in _CONCERNS.get(kind, ())]
            limits = {n: getattr(arm.limits, n) for names in _CONCERNS.values() for n in names}
            outer |= {n: v for n, v in limits.items() if n not in shared and _is_bound(v)}
            kept = Limits(**{n: v for n, v in limits.items() if n in shared})
            arm = bounded(arm.of, kept, aliases)
        inner.append(arm)
    return bounded(union(inner), Limits(**outer), aliases)


def _is_bound(value: float | None) -> bool:
    """Return whether a limit is a bound: 0 is one; false, which equals 0 in Python, is not."""
    return value is not None and value is not False


def _kinds_of(type: Type, aliases: Mapping[str, Type]) -> frozenset[str]:
    """The kinds accepted by a type; a recursive type may be of any kind."""
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
            return frozenset(kind for arm in type.arms for kind in _kinds_of(arm, aliases))
        case Bounded():
            return _kinds_of(type.of, aliases)
        case Ref() if type.name in aliases:
            return _kinds_of(aliases[type.name], aliases)
        case Ref() if type.name.endswith("#"):
            return KINDS
        case _:
            return frozenset(("object",))


def _kind_of(value: object) -> str:
    """The kind of a JSON value."""
    if value is None:
        return "null"
    named = ((bool, "boolean"), (str, "string"), (list, "array"), (dict, "object"))
    for kind, name in named:
        if isinstance(value, kind):
            return name
    return "number"
