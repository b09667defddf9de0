"""Adds keywords to msgspec's schemas, for models and clients which need them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec.inspect as mi

from mcp_runtime.json_schema.walk import Schema, every

_TIMES: Final[tuple[tuple[type[mi.Type], str], ...]] = (
    (mi.DateTimeType, "date-time"),
    (mi.TimeType, "time"),
)
"""msgspec writes the format only if the type demands an offset; models need it in any case."""


def add_items(schema: Schema) -> None:
    """Add an empty `items` to each array without one: its items may be anything."""
    for each in every(schema):
        if each.get("type") == "array" and "items" not in each:
            each["items"] = {}


def add_time_formats(annotation: Any, schema: Schema) -> None:
    """Add the `format` of times, and of dates with a time, to the schema of a type."""
    _mark(mi.type_info(annotation), schema, schema.get("$defs", {}), set())


def _mark(info: mi.Type, place: Any, defs: Schema, seen: set[str]) -> None:
    while isinstance(info, mi.Metadata):
        info = info.type
    if not isinstance(place, dict):
        return
    schema = cast("Schema", place)
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        if name not in seen:
            seen.add(name)
            _mark(info, defs.get(name), defs, seen)
        return
    for kind, format in _TIMES:
        if isinstance(info, kind):
            schema.setdefault("format", format)
    for inner, below in _below(info, schema, defs):
        _mark(inner, below, defs, seen)


def _below(info: mi.Type, schema: Schema, defs: Schema) -> list[tuple[mi.Type, Any]]:
    """Return the types directly inside a type, with their schemas."""
    if isinstance(info, mi.CollectionType):
        return [(info.item_type, schema.get("items"))]
    if isinstance(info, mi.DictType):
        return [(info.value_type, schema.get("additionalProperties"))]
    if isinstance(info, mi.TupleType):
        return [*zip(info.item_types, schema.get("prefixItems", ()), strict=False)]
    if isinstance(info, mi.UnionType):
        arms = [*_arms(schema)]
        return [(each, arm) for each in info.types for arm in arms if _fits(each, arm, defs)]
    members: Schema = schema.get("properties", {})
    fields: tuple[mi.Field, ...] = getattr(info, "fields", ())
    return [(each.type, members.get(each.encode_name)) for each in fields]


def _arms(schema: Schema) -> Iterator[Schema]:
    """Yield the arms of a choice, those of nested choices too: msgspec nests tagged objects."""
    for arm in schema.get("anyOf", ()):
        yield from _arms(arm) if "anyOf" in arm else (arm,)


def _fits(info: mi.Type, arm: Schema, defs: Schema) -> bool:
    """True if an arm of `anyOf` is the schema of this arm of a union.

    The kind of JSON decides: msgspec allows only one text, one array and one mapping in a union,
    and objects with distinct tags.
    """
    while isinstance(info, mi.Metadata):
        info = info.type
    if isinstance(info, mi.DateTimeType | mi.TimeType):
        return arm.get("type") == "string" and "enum" not in arm
    if isinstance(info, mi.CollectionType | mi.TupleType):
        return arm.get("type") == "array"
    if isinstance(info, mi.DictType):
        return arm.get("type") == "object"
    fields: tuple[mi.Field, ...] | None = getattr(info, "fields", None)
    if fields is None or "$ref" not in arm:
        return False
    name = str(arm["$ref"]).rpartition("/")[2]
    members: Schema = defs.get(name, {}).get("properties", {})
    return members.keys() >= {each.encode_name for each in fields}
