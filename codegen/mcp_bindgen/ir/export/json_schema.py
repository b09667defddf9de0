"""A schema as JSON Schema 2020-12, accepting exactly the values of its types.

Numbers stay numbers, null stays, open literals keep their strings, and index signatures their type.
`format`, `default` and descriptions are informative.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from mcp_bindgen.errors import InputError
from mcp_bindgen.ir.model import (
    JSON_PRIMS,
    Alias,
    Arr,
    Bounded,
    Field,
    Limits,
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
from mcp_bindgen.ir.values.patterns import escape, python_pattern

__all__ = ["DIALECT", "json_schema"]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_Node: TypeAlias = dict[str, Any] | bool
"""A JSON Schema; `True` takes anything."""

_BOUNDS: Final = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusive_minimum": "exclusiveMinimum",
    "exclusive_maximum": "exclusiveMaximum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}


def json_schema(schema: Schema, root: str | None = None) -> dict[str, Any]:
    """A document with every type in `$defs`; with `root` it describes values of that type.

    Raises InputError if the schema has no type `root`.
    """
    if root is not None and root not in schema.types:
        raise InputError(
            f"{schema.revision} has no type `{root}`", remedy="Name one of its declarations."
        )
    return {
        "$schema": DIALECT,
        **({} if root is None else _ref(root)),
        "$defs": {name: _declaration(declaration) for name, declaration in schema.types.items()},
    }


def _declaration(declaration: Struct | Alias) -> _Node:
    node = _struct(declaration) if isinstance(declaration, Struct) else _type(declaration.type)
    return _annotate(node, _notes(declaration.doc, declaration.deprecated))


def _struct(struct: Struct) -> dict[str, Any]:
    required = [field.wire for field in struct.fields if field.required]
    return {
        "type": "object",
        **({"properties": {f.wire: _member(f) for f in struct.fields}} if struct.fields else {}),
        **({"required": required} if required else {}),
        **_keyed_members(struct),
        **({} if struct.index is None else {"additionalProperties": _type(struct.index)}),
    }


def _keyed_members(struct: Struct) -> dict[str, Any]:
    """The types of unlisted members, by the pattern of their names."""
    if not struct.keyed:
        return {}
    types = {_exclude_listed(keyed.pattern, struct): _type(keyed.type) for keyed in struct.keyed}
    most = [keyed.longest for keyed in struct.keyed if keyed.longest is not None]
    names = {"propertyNames": {"maxLength": min(most)}} if most else {}
    return {"patternProperties": types, **names}


def _exclude_listed(pattern: str, struct: Struct) -> str:
    """`pattern`, which begins with `^`, changed to match no member listed in the struct."""
    expression = re.compile(python_pattern(pattern))
    names = (f.wire for f in struct.fields if expression.search(f.wire))
    aside = "".join(f"(?!{escape(name)}$)" for name in names)
    return f"^{aside}{pattern[1:]}"


def _member(field: Field) -> _Node:
    notes = _notes(field.doc, field.deprecated)
    if field.format is not None:
        notes["format"] = field.format
    if field.default is not None:
        notes["default"] = _default(field.default)
    return _annotate(_type(field.type), notes)


def _notes(doc: str, deprecated: str | None) -> dict[str, Any]:
    return {
        **({"description": doc} if doc else {}),
        **({} if deprecated is None else {"deprecated": True}),
    }


def _default(text: str) -> Any:
    """The value of a `@default` tag; text other than JSON is a string."""
    try:
        return json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError):
        return text


def _not_json(name: str) -> None:
    raise ValueError(name)


def _annotate(node: _Node, notes: Mapping[str, Any]) -> _Node:
    if not notes:
        return node
    return {**notes, **({} if isinstance(node, bool) else node)}


def _type(type: Type) -> _Node:
    match type:
        case Prim():
            return True if type.name in JSON_PRIMS else {"type": type.name}
        case Lit():
            return {"const": type.value}
        case Ref():
            return _ref(type.name)
        case Arr():
            return {"type": "array", "items": _type(type.of)}
        case Map():
            return {"type": "object", "additionalProperties": _type(type.of)}
        case Tup():
            return _tuple(type)
        case Uni():
            return _union(type)
        case Bounded():
            return _with_bounds(type)


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _tuple(type: Tup) -> dict[str, Any]:
    least = sum(not place.optional for place in type.of)
    return {
        "type": "array",
        **({"prefixItems": [_type(place.type) for place in type.of]} if type.of else {}),
        **({"minItems": least} if least else {}),
        "items": False if type.rest is None else _type(type.rest),
    }


def _union(type: Uni) -> dict[str, Any]:
    """One enum of the literals, then the other arms; nothing matches if there are no arms."""
    if not type.arms:
        return {"not": {}}
    literals = [arm.value for arm in type.arms if isinstance(arm, Lit)]
    arms = [_type(arm) for arm in type.arms if not isinstance(arm, Lit)]
    if literals:
        arms.insert(0, {"enum": literals} if len(literals) > 1 else {"const": literals[0]})
    only = arms[0] if len(arms) == 1 else None
    return only if isinstance(only, dict) else {"anyOf": arms}


def _with_bounds(type: Bounded) -> _Node:
    """A type with its bounds as keywords. They apply to values of their kind only, as JSON Schema
    has it.
    """
    bounds = _limits(type.limits)
    inner = _type(type.of)
    if inner == {"type": "number"} and type.limits.integer:
        inner = {"type": "integer"}
    elif type.limits.integer:
        bounds.setdefault("multipleOf", 1)
    if isinstance(inner, bool):
        return bounds
    return {"allOf": [inner], **bounds} if inner.keys() & bounds.keys() else {**inner, **bounds}


def _limits(limits: Limits) -> dict[str, Any]:
    bounds = {theirs: getattr(limits, ours) for ours, theirs in _BOUNDS.items()}
    unique = {"uniqueItems": True} if limits.unique_items else {}
    return {name: bound for name, bound in bounds.items() if bound is not None} | unique
