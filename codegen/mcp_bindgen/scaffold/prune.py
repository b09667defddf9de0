"""Removes the keywords of a JSON Schema which types cannot express, before it is typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_bindgen.json_values import list_of, object_of
from mcp_bindgen.scaffold.typed import Untyped

__all__ = ["pruned"]

_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_TABLES: Final = frozenset({"$defs", "definitions", "properties"})
_INNER: Final = frozenset({"additionalProperties", "items"})
_PLAIN: Final = frozenset(
    {
        "$ref",
        "const",
        "default",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "multipleOf",
        "required",
        "type",
    }
)
"""Keywords which types express; all others are removed first."""


def pruned(schema: Any) -> dict[str, Any]:
    """A schema reduced to the keywords which types express. Raises Untyped."""
    members = object_of(schema)
    if members is None:
        raise Untyped("its schema is not an object")
    _require_local(members.get("$ref"))
    kept: dict[str, Any] = {}
    for key, value in members.items():
        if key in _PLAIN:
            _require_no_reference(value)
            kept[key] = value
        elif key in _LISTS or (key == "items" and list_of(value) is not None):
            kept[key] = [_prune_if_any(each) for each in list_of(value) or ()]
        elif key in _TABLES:
            kept[key] = {n: _prune_if_any(each) for n, each in (object_of(value) or {}).items()}
        elif key in _INNER:
            kept[key] = _prune_if_any(value)
    return _with_required(kept)


def _prune_if_any(schema: Any) -> Any:
    """Like `pruned`, for a schema which may be true or false."""
    return schema if isinstance(schema, bool) else pruned(schema)


def _with_required(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose required members are all declared."""
    declared: Mapping[str, Any] = schema.get("properties", {})
    lacking = [name for name in schema.get("required", ()) if name not in declared]
    if lacking and declared:
        schema["properties"] = {**declared, **{name: {} for name in lacking}}
    return schema


def _require_local(ref: Any) -> None:
    """Raise Untyped for a reference out of the schema, since nothing is fetched."""
    if ref is not None and not (ref == "#" or str(ref).startswith("#/")):
        raise Untyped(f"refers to {str(ref)[:80]!r}, which is not in the schema")


def _require_no_reference(value: Any) -> None:
    """Raise Untyped for a value in which datamodel-code-generator would follow a reference."""
    for key, inner in (object_of(value) or {}).items():
        if key == "$ref":
            raise Untyped("has `$ref` in a value, where it is not a reference")
        _require_no_reference(inner)
    for inner in list_of(value) or ():
        _require_no_reference(inner)
