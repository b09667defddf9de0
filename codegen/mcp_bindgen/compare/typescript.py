"""Types as TypeScript writes them, for people: anonymous shapes are written out."""

from __future__ import annotations

import json
import re
from typing import Final

from mcp_bindgen.ir.model import (
    Arr,
    Bounded,
    Field,
    Lit,
    LiteralValue,
    Map,
    Prim,
    Ref,
    Schema,
    Struct,
    Tup,
    Type,
    Uni,
)

__all__ = ["place", "spelled", "spelled_value"]

_PLAIN: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_DEEPEST: Final = 3


def place(schema: Schema, name: str) -> str:
    """The path of a declaration or an anonymous shape."""
    declaration = schema.types.get(name)
    inline = isinstance(declaration, Struct) and declaration.place
    return inline or name


def spelled(schema: Schema, type: Type | None, depth: int = 0) -> str:
    """A type in TypeScript; the empty text for None."""
    match type:
        case None:
            return ""
        case Prim():
            return "JSON" if type.name == "json" else type.name
        case Lit():
            return spelled_value(type.value)
        case Ref():
            return _named(schema, type.name, depth)
        case Arr():
            return _wrapped(schema, type.of, depth) + "[]"
        case Map():
            return f"{{ [key: string]: {spelled(schema, type.of, depth)} }}"
        case Uni():
            return " | ".join(spelled(schema, arm, depth) for arm in type.arms) or "never"
        case Tup():
            items = [spelled(schema, e.type, depth) + "?" * e.optional for e in type.of]
            rest = [f"...{_wrapped(schema, type.rest, depth)}[]"] if type.rest else []
            return f"[{', '.join(items + rest)}]"
        case Bounded():
            return f"{_wrapped(schema, type.of, depth)} ({_bounds(type)})"


def spelled_value(value: LiteralValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _wrapped(schema: Schema, type: Type, depth: int) -> str:
    text = spelled(schema, type, depth)
    return f"({text})" if isinstance(type, Uni) else text


def _named(schema: Schema, name: str, depth: int) -> str:
    struct = schema.structs.get(name)
    if struct is None or not struct.place:
        return name
    if depth >= _DEEPEST:
        return "{ … }"
    members = [_member(schema, field, depth + 1) for field in struct.fields]
    if struct.index is not None:
        members.append(f"[key: string]: {spelled(schema, struct.index, depth + 1)}")
    return f"{{ {'; '.join(members)} }}" if members else "{}"


def _member(schema: Schema, field: Field, depth: int) -> str:
    name = field.wire if _PLAIN.match(field.wire) else json.dumps(field.wire, ensure_ascii=False)
    return f"{name}{'' if field.required else '?'}: {spelled(schema, field.type, depth)}"


def _bounds(type: Bounded) -> str:
    limits = type.limits
    rows = (
        ("≥", limits.minimum),
        ("≤", limits.maximum),
        (">", limits.exclusive_minimum),
        ("<", limits.exclusive_maximum),
        ("items ≥", limits.min_items),
        ("items ≤", limits.max_items),
        ("length ≥", limits.min_length),
        ("length ≤", limits.max_length),
    )
    said = [f"{sign} {bound}" for sign, bound in rows if bound is not None]
    return ", ".join(["integer"] * limits.integer + said)
