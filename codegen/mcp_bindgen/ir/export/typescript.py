"""Types in TypeScript's syntax, for people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Field,
    Limits,
    Lit,
    LiteralValue,
    Map,
    Prim,
    Ref,
    Schema,
    Tup,
    Type,
    Uni,
)
from mcp_bindgen.ir.walk import alias_of, is_partial

__all__ = ["shape_text", "type_text", "value_text"]

_PLAIN: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_DEEPEST: Final = 3
_SIGNS: Final = (
    ("≥", "minimum"),
    ("≤", "maximum"),
    (">", "exclusive_minimum"),
    ("<", "exclusive_maximum"),
    ("items ≥", "min_items"),
    ("items ≤", "max_items"),
    ("length ≥", "min_length"),
    ("length ≤", "max_length"),
    ("multiple of", "multiple_of"),
    ("matching", "pattern"),
)


def type_text(type: Type, named: Callable[[str], str] = str) -> str:
    """`type` in TypeScript, its bounds in words; `named` says how a reference is written."""
    match type:
        case Prim():
            return "JSON" if type.name == "json" else type.name
        case Lit():
            return value_text(type.value)
        case Ref():
            return named(type.name)
        case Arr():
            return f"{_operand(type.of, named)}[]"
        case Map():
            return f"{{ [key: string]: {type_text(type.of, named)} }}"
        case Uni():
            return " | ".join(type_text(arm, named) for arm in type.arms) or "never"
        case Tup():
            return _tuple(type, named)
        case Bounded():
            return f"{_operand(type.of, named)} ({_bounds(type.limits)})"


def value_text(value: LiteralValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _operand(type: Type, named: Callable[[str], str]) -> str:
    text = type_text(type, named)
    return f"({text})" if isinstance(type, Uni) else text


def _tuple(type: Tup, named: Callable[[str], str]) -> str:
    items = [type_text(e.type, named) + "?" * e.optional for e in type.of]
    rest = [] if type.rest is None else [f"...{_operand(type.rest, named)}[]"]
    return f"[{', '.join(items + rest)}]"


def _bounds(limits: Limits) -> str:
    bounds = [(sign, getattr(limits, name)) for sign, name in _SIGNS]
    words = [f"{sign} {bound}" for sign, bound in bounds if bound is not None]
    flags = ["integer"] * limits.integer + ["unique items"] * limits.unique_items
    return ", ".join(flags + words)


# ---- unnamed shapes written out


def shape_text(schema: Schema, type: Type | None, depth: int = 0) -> str:
    """A type in TypeScript with its unnamed shapes written out; the empty text for None."""
    if type is None:
        return ""
    return type_text(type, lambda name: _name_or_shape(schema, name, depth))


def _name_or_shape(schema: Schema, name: str, depth: int) -> str:
    alias = alias_of(schema, Ref(name))
    if alias is not None and is_partial(Ref(name)):
        return shape_text(schema, alias.type, depth)
    struct = schema.structs.get(name)
    if struct is None or not struct.place:
        return name
    if depth >= _DEEPEST:
        return "{ … }"
    members = [_member(schema, field, depth + 1) for field in struct.fields]
    if struct.index is not None:
        members.append(f"[key: string]: {shape_text(schema, struct.index, depth + 1)}")
    for keyed in struct.keyed:
        members.append(f"[key: {keyed.key}]: {shape_text(schema, keyed.type, depth + 1)}")
    return f"{{ {'; '.join(members)} }}" if members else "{}"


def _member(schema: Schema, field: Field, depth: int) -> str:
    name = field.wire if _PLAIN.match(field.wire) else json.dumps(field.wire, ensure_ascii=False)
    return f"{name}{'' if field.required else '?'}: {shape_text(schema, field.type, depth)}"
