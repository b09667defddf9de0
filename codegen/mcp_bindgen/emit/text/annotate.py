"""Annotations: the Python type of each type of the IR, and what a fault calls it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

from mcp_bindgen.emit.text.layout import Code, Group, Or, flat, literal
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

__all__ = ["Annotator", "annotation", "deprecation", "described", "expected", "optional"]


class Annotator:
    """Annotations of one module; `text` collects them, to see which names they use."""

    any = "Any"
    prims: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "string": ("str",),
        "number": ("int", "float"),
        "boolean": ("bool",),
        "null": ("None",),
        "object": ("dict[str, Any]",),
    }

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.text: list[str] = []

    def of(self, type: Type) -> Code:
        """What a type checker reads; unions in the order that decides."""
        code = self.code(type)
        self.text.append(flat(code))
        return code

    def declared(self, type: Type) -> Code:
        """The annotation that an alias stands for."""
        return self.of(type)

    def uses(self, name: str) -> bool:
        return any(name in text for text in self.text)

    def code(self, type: Type) -> Code:
        parts = list(dict.fromkeys(self.parts(type)))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def parts(self, type: Type) -> list[Code]:
        match type:
            case Prim() if type.name in JSON_PRIMS:
                return [self.any]
            case Prim():
                return list(self.prims[type.name])
            case Lit():
                return [Group("Literal[", (literal(type.value),), "]")]
            case Ref():
                return [type.name]
            case Arr():
                return [Group("list[", (self.code(type.of),), "]")]
            case Map():
                return [_map(self.code(type.of))]
            case Bounded():
                return self.bounded(type)
            case Tup():
                return [self.places(type)]
            case Uni():
                return self.union(arms(self.schema, type))

    def bounded(self, type: Bounded) -> list[Code]:
        return self.parts(type.of)

    def places(self, type: Tup) -> Code:
        """A tuple is a list in JSON: of what any place takes."""
        inner = [e.type for e in type.of] + ([type.rest] if type.rest else [])
        return Group("list[", (self.code(Uni(tuple(inner))) if inner else self.any,), "]")

    def union(self, leaves: tuple[Type, ...]) -> list[Code]:
        """The arms in order, literals together where the first of them stands."""
        literals = tuple(literal(leaf.value) for leaf in leaves if isinstance(leaf, Lit))
        parts: list[Code] = [Group("Literal[", literals, "]")] if literals else []
        for leaf in leaves:
            if not isinstance(leaf, Lit):
                parts += self.parts(leaf)
        return [self.any] if self.any in parts else parts


def annotation(schema: Schema, type: Type) -> Code:
    """The annotation of a type where no flavour has a say."""
    return Annotator(schema).of(type)


def optional(code: Code, absent: str) -> Code:
    """`code` or absent; Any stays itself, as it takes both."""
    if code == "Any":
        return code
    items = code.items if isinstance(code, Or) else (code,)
    return Or((*items, absent))


def _map(value: Code) -> Code:
    return f"dict[str, {value}]" if isinstance(value, str) else Group("dict[", ("str", value), "]")


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
    placed = isinstance(declaration, Struct) and declaration.place
    place = f"Value of `{placed}`." if placed else ""
    parts = [declaration.doc or place, deprecation(declaration.deprecated)]
    return " ".join(part for part in parts if part)


def deprecation(text: str | None) -> str:
    """`Since …` becomes `Deprecated since …`."""
    if text is None:
        return ""
    return (
        f"Deprecated {text[0].lower()}{text[1:]}"
        if text.startswith("Since")
        else f"Deprecated. {text}"
    )
