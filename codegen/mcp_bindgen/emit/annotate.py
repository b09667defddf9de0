"""Annotations: the Python type of each type of the IR, and what a fault calls it."""

from __future__ import annotations

import json

from mcp_bindgen.emit.layout import Code, Group, Or, literal
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
    Struct,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.unions import arms

__all__ = ["annotation", "deprecation", "described", "expected", "optional"]

_PRIMS: dict[str, tuple[str, ...]] = {
    "string": ("str",),
    "number": ("int", "float"),
    "boolean": ("bool",),
    "null": ("None",),
    "object": ("dict[str, Any]",),
}


def annotation(schema: Schema, type: Type) -> Code:
    """What a type checker reads; unions in the order that decides."""
    parts = list(dict.fromkeys(_parts(schema, type)))
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def optional(code: Code, absent: str) -> Code:
    """`code` or absent; Any stays itself, as it takes both."""
    if code == "Any":
        return code
    items = code.items if isinstance(code, Or) else (code,)
    return Or((*items, absent))


def _parts(schema: Schema, type: Type) -> list[Code]:
    match type:
        case Prim() if type.name in JSON_PRIMS:
            return ["Any"]
        case Prim():
            return list(_PRIMS[type.name])
        case Lit():
            return [Group("Literal[", (literal(type.value),), "]")]
        case Ref():
            return [type.name]
        case Arr():
            return [Group("list[", (annotation(schema, type.of),), "]")]
        case Map():
            return [_map(annotation(schema, type.of))]
        case Bounded():
            return _parts(schema, type.of)
        case Tup():
            inner = [e.type for e in type.of] + ([type.rest] if type.rest else [])
            union = annotation(schema, Uni(tuple(inner))) if inner else "Any"
            return [Group("list[", (union,), "]")]
        case Uni():
            return _union(schema, type)


def _map(value: Code) -> Code:
    return "dict[str, Any]" if value == "Any" else Group("dict[", ("str", value), "]")


def _union(schema: Schema, type: Uni) -> list[Code]:
    """The arms in order, literals together where the first of them stands."""
    leaves = arms(schema, type)
    literals = tuple(literal(leaf.value) for leaf in leaves if isinstance(leaf, Lit))
    parts: list[Code] = [Group("Literal[", literals, "]")] if literals else []
    for leaf in leaves:
        if not isinstance(leaf, Lit):
            parts += _parts(schema, leaf)
    return ["Any"] if "Any" in parts else parts


def expected(schema: Schema, type: Type) -> str:
    """What a fault says was expected: JSON kinds, literals, and the names of a union's arms."""
    match type:
        case Prim() if type.name in JSON_PRIMS:
            return "a value"
        case Prim():
            return type.name
        case Lit():
            return json.dumps(type.value)
        case Ref():
            found = schema.types[type.name]
            return "object" if isinstance(found, Struct) else expected(schema, found.type)
        case Arr() | Tup():
            return "array"
        case Map():
            return "object"
        case Bounded():
            return expected(schema, type.of)
        case Uni():
            return " | ".join(dict.fromkeys(_arm(schema, arm) for arm in arms(schema, type)))


def _arm(schema: Schema, arm: Type) -> str:
    return arm.name if isinstance(arm, Ref) else expected(schema, arm)


def described(declaration: Struct | Alias) -> str:
    """The text of a docstring: the sentence, where the shape stands, and the deprecation."""
    place = f"Value of `{declaration.place}`." if _is_placed(declaration) else ""
    parts = [declaration.doc or place, deprecation(declaration.deprecated)]
    return " ".join(part for part in parts if part)


def _is_placed(declaration: Struct | Alias) -> bool:
    return isinstance(declaration, Struct) and bool(declaration.place)


def deprecation(text: str | None) -> str:
    """`Since …` becomes `Deprecated since …`."""
    if text is None:
        return ""
    return (
        f"Deprecated {text[0].lower()}{text[1:]}"
        if text.startswith("Since")
        else f"Deprecated. {text}"
    )
