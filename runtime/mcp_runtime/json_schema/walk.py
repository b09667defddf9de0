"""Walks a JSON Schema: the schemas in it, what it refers to, and its alternatives."""

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
"""Keywords that judge no value: beside a reference they stand for those of the definition."""


class Part(NamedTuple):
    """A schema directly inside another: under a keyword, and there under a name or an index."""

    keyword: str
    key: str | int | None
    schema: Any


def parts(schema: Schema) -> Iterator[Part]:
    """The schemas directly inside a schema, truth values among them."""
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
    """A schema and all that are inside it, at any depth, but for truth values."""
    if isinstance(schema, dict):
        held = cast("Schema", schema)
        yield held
        for part in parts(held):
            yield from every(part.schema)


def refers(schema: Any, name: str) -> bool:
    """Whether a schema, or one inside it, refers to the definition of a name."""
    return any(each.get("$ref") == _LOCAL + name for each in every(schema))


def resolved(schema: Schema, defs: Schema) -> Schema:
    """The schema with the definition that it refers to in place of the reference."""
    if "$ref" not in schema:
        return schema
    name = str(schema["$ref"]).removeprefix(_LOCAL)
    beside = {at: one for at, one in schema.items() if at != "$ref"}
    return resolved({**defs.get(name, {}), **beside}, defs)


def inline_leaves(schema: Schema) -> None:
    """Puts definitions that hold no schema, as an enumeration does, where they are referred to.

    Many clients do not look them up. What nothing refers to any more is left out.
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
    """Those that a value may fit, where the schema is a reference or a choice; else the schema."""
    schema = resolved(schema, defs)
    choices = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    for each in choices:
        yield from alternatives(each, defs)
    if not choices:
        yield schema
