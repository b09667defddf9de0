"""Walks a JSON Schema: its subschemas, references and alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias, cast

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema, as parsed JSON."""

_LISTED: Final = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED: Final = (
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
)
_SINGLE: Final = (
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LOCAL: Final = "#/$defs/"
_NOTES: Final = frozenset(("default", "deprecated", "description", "examples", "title"))
"""Annotations: beside a reference they replace those of the definition."""


class Part(NamedTuple):
    """A schema directly inside another: its keyword, and its name or index there."""

    keyword: str
    key: str | int | None
    schema: Any


def parts(schema: Schema) -> Iterator[Part]:
    """Yield the schemas directly inside a schema, truth values included."""
    for keyword in _SINGLE:
        if isinstance(schema.get(keyword), dict | bool):
            yield Part(keyword, None, schema[keyword])
    for keyword in _LISTED:
        if isinstance(schema.get(keyword), list):
            yield from (Part(keyword, i, each) for i, each in enumerate(schema[keyword]))
    for keyword in _NAMED:
        if isinstance(schema.get(keyword), dict):
            yield from (Part(keyword, name, each) for name, each in schema[keyword].items())


def every(schema: Any) -> Iterator[Schema]:
    """Yield a schema and all schemas inside it, at any depth, without truth values."""
    if isinstance(schema, dict):
        held = cast("Schema", schema)
        yield held
        for part in parts(held):
            yield from every(part.schema)


def refers(schema: Any, name: str) -> bool:
    """True if a schema, or one inside it, refers to the definition `name`."""
    return any(each.get("$ref") == _LOCAL + name for each in every(schema))


def resolve(schema: Schema, defs: Schema) -> Schema:
    """Return the schema with its reference replaced by the definition."""
    if "$ref" not in schema:
        return schema
    name = str(schema["$ref"]).removeprefix(_LOCAL)
    beside = {at: one for at, one in schema.items() if at != "$ref"}
    return resolve({**defs.get(name, {}), **beside}, defs)


def inline_leaves(schema: Schema) -> None:
    """Replace references to definitions without a schema inside, such as enumerations.

    Many clients do not follow such references. Unused definitions are removed.
    """
    defs: Schema = schema.get("$defs", {})
    leaves = {name: one for name, one in defs.items() if "$ref" not in one and not any(parts(one))}
    for each in every(schema):
        leaf = leaves.get(str(each.get("$ref")).removeprefix(_LOCAL))
        if leaf is not None and each.keys() & leaf.keys() <= _NOTES:
            each |= {**leaf, **each}
            del each["$ref"]
    schema["$defs"] = {name: one for name, one in defs.items() if refers(schema, name)}
    if not schema["$defs"]:
        del schema["$defs"]


def alternatives(schema: Schema, defs: Schema) -> Iterator[Schema]:
    """Yield the alternatives of a reference or a choice; of another schema, itself."""
    schema = resolve(schema, defs)
    choices = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    for each in choices:
        yield from alternatives(each, defs)
    if not choices:
        yield schema
