"""Choices of generation which change the accepted values: `--literals open`."""

from __future__ import annotations

from dataclasses import replace

from mcp_bindgen.ir.model import (
    Alias,
    Declaration,
    Lit,
    Prim,
    Schema,
    Struct,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import map_children

__all__ = ["choose_literals"]


def choose_literals(schema: Schema, literals: str) -> Schema:
    """`schema`; with `--literals open`, its unions of string literals accept any string."""
    if literals == "closed":
        return schema
    extension = schema.extension
    if extension is not None:
        extension = replace(extension, core=choose_literals(extension.core, literals))
    declarations = tuple(map(_open_literals, schema.declarations))
    return replace(schema, declarations=declarations, extension=extension)


def _open_literals(declaration: Declaration) -> Declaration:
    match declaration:
        case Struct():
            fields = tuple(replace(f, type=_open(f.type)) for f in declaration.fields)
            return replace(declaration, fields=fields)
        case Alias():
            return replace(declaration, type=_open(declaration.type))
        case _:
            return declaration


def _open(type: Type) -> Type:
    match type:
        case Uni(arms) if all(isinstance(a, Lit) and isinstance(a.value, str) for a in arms):
            return Uni((*arms, Prim("string")))
        case _:
            return map_children(type, _open)
