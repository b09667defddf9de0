"""Types as TypeScript writes them, for people: anonymous shapes are written out."""

from __future__ import annotations

import json
import re
from typing import Final

from mcp_bindgen.compare.changes.assignable import is_partial
from mcp_bindgen.ir.export.typescript import spelled_type, spelled_value
from mcp_bindgen.ir.model import Field, Ref, Schema, Type
from mcp_bindgen.ir.walk import alias_of

__all__ = ["spelled", "spelled_value"]

_PLAIN: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_DEEPEST: Final = 3


def spelled(schema: Schema, type: Type | None, depth: int = 0) -> str:
    """A type in TypeScript; the empty text for None."""
    if type is None:
        return ""
    return spelled_type(type, lambda name: _named(schema, name, depth))


def _named(schema: Schema, name: str, depth: int) -> str:
    alias = alias_of(schema, Ref(name))
    if alias is not None and is_partial(Ref(name)):
        return spelled(schema, alias.type, depth)
    struct = schema.structs.get(name)
    if struct is None or not struct.place:
        return name
    if depth >= _DEEPEST:
        return "{ … }"
    members = [_member(schema, field, depth + 1) for field in struct.fields]
    if struct.index is not None:
        members.append(f"[key: string]: {spelled(schema, struct.index, depth + 1)}")
    for keyed in struct.keyed:
        members.append(f"[key: {keyed.key}]: {spelled(schema, keyed.type, depth + 1)}")
    return f"{{ {'; '.join(members)} }}" if members else "{}"


def _member(schema: Schema, field: Field, depth: int) -> str:
    name = field.wire if _PLAIN.match(field.wire) else json.dumps(field.wire, ensure_ascii=False)
    return f"{name}{'' if field.required else '?'}: {spelled(schema, field.type, depth)}"
