"""Forms for elicitation, made from a class or a schema within the limits of the protocol.

Source: 2026-07-28 client/elicitation, "Requested Schema".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from msgspec import Struct

from mcp_runtime.errors import BadAnswer
from mcp_runtime.json_schema.class_defaults import fill_class_defaults
from mcp_runtime.json_schema.mismatch import Mismatch
from mcp_runtime.json_schema.type_adapter import adapter
from mcp_runtime.json_schema.walk import Schema, resolve
from mcp_runtime.revisions import DecodeError
from mcp_runtime.revisions import latest as t


class Form(Struct, frozen=True):
    """A form; `read` converts the content of an answer to the type, or raises BadAnswer."""

    schema: t.ElicitRequestFormParamsRequestedSchema
    read: Callable[[Any], Any]


def form(of: Any) -> Form:
    """Make a form: of a class or a schema, a flat list of simple fields, or of one value.

    One value is a string, number, boolean, an enum, or a list of choices of one, and is the field
    `value` of its form. Raises TypeError for anything else.
    """
    if isinstance(of, Mapping):
        given: dict[str, Any] = dict(cast("Mapping[str, Any]", of))
        requested = _requested_schema(given, "the schema")
        return Form(requested, lambda content: _check(requested, content))
    name = getattr(of, "__name__", str(of))
    try:
        reader = adapter(of)
    except TypeError as error:
        raise TypeError(
            f"{name} cannot be a form: {error}; give a dataclass, or a schema"
        ) from None

    def read(content: Any) -> Any:
        try:
            value = reader.read(content)
        except Mismatch as mismatch:
            raise BadAnswer(f"the answer does not fit the form: {mismatch}") from None
        fill_class_defaults(value)
        return value

    defs: Schema = reader.schema.get("$defs", {})
    if not _is_one_value(reader.schema, defs):
        return Form(_requested_schema(reader.schema, name), read)
    field = {key: value for key, value in reader.schema.items() if key != "$defs"}
    one = {"properties": {"value": field}, "required": ["value"], "$defs": defs}
    return Form(_requested_schema(one, name), lambda content: read(_value(content)))


def _is_one_value(schema: Schema, defs: Schema) -> bool:
    """Return True for a string, a number, a boolean, a choice, and a list of choices."""
    schema = resolve(schema, defs)
    if schema.get("type") == "array":
        return "enum" in resolve(schema.get("items", {}), defs)
    return "enum" in schema or schema.get("type") in ("string", "number", "integer", "boolean")


def _value(content: Any) -> Any:
    """Return the one value of an answer. Raises BadAnswer if it is missing."""
    if content.__class__ is not dict or "value" not in content:
        raise BadAnswer("the answer does not fit the form: 'value' is missing")
    return content["value"]


def _check(schema: t.ElicitRequestFormParamsRequestedSchema, content: Any) -> Any:
    if fault := mismatch(schema, content):
        raise BadAnswer(f"the answer does not fit the form: {fault}")
    return content


def mismatch(schema: t.ElicitRequestFormParamsRequestedSchema, content: Any) -> str:
    """Return the fault in the content of an answer; empty if it fits the schema."""
    written: Mapping[str, Any] = t.to_wire(schema)
    given: Mapping[str, Any] = {} if content is t.UNSET or content is None else content
    for name in written.get("required", ()):
        if name not in given:
            return f"{name!r} is missing"
    for name, value in given.items():
        field = written["properties"].get(name)
        if field is not None and (fault := _fault(field, value)):
            return f"{name!r}: {fault}"
    return ""


def _fault(field: Mapping[str, Any], value: Any) -> str:
    kind = field["type"]
    if not _KINDS[kind](value):
        return f"expected {kind}"
    items, choices = (value, field["items"]) if kind == "array" else ([value], field)
    if not all(_is_choice(choices, item) for item in items):
        return "it is not one of the choices"
    for least, most, measure in _BOUNDS:
        if least in field and measure(value) < field[least]:
            return f"expected {least} {field[least]}"
        if most in field and measure(value) > field[most]:
            return f"expected {most} {field[most]}"
    return ""


def _is_choice(field: Mapping[str, Any], value: Any) -> bool:
    titled = field.get("oneOf", field.get("anyOf"))
    choices = field.get("enum") if titled is None else [each["const"] for each in titled]
    return choices is None or value in choices


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (isinstance(value, int) or math.isfinite(value))


def _is_strings(value: Any) -> bool:
    return value.__class__ is list and all(isinstance(item, str) for item in value)


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value % 1 == 0,
    "boolean": lambda value: isinstance(value, bool),
    "array": _is_strings,
}
_BOUNDS: Final[tuple[tuple[str, str, Callable[[Any], Any]], ...]] = (
    ("minLength", "maxLength", len),
    ("minItems", "maxItems", len),
    ("minimum", "maximum", lambda value: value),
)


def _requested_schema(schema: Schema, name: str) -> t.ElicitRequestFormParamsRequestedSchema:
    """Return the schema as a form's. Raises TypeError if it is not a flat list of simple fields."""
    defs: Schema = schema.get("$defs", {})
    schema = resolve(schema, defs)
    if not isinstance(schema.get("properties"), dict):
        raise TypeError(f"{name} cannot be a form: it has no fields; give a dataclass, or a schema")
    properties = {key: _field(value, defs) for key, value in schema["properties"].items()}
    requested: dict[str, Any] = {"type": "object", "properties": properties}
    if schema.get("required"):
        requested["required"] = schema["required"]
    try:
        return t.from_wire(t.ElicitRequestFormParamsRequestedSchema, requested)
    except DecodeError as error:
        remedy = "a form has only strings, numbers, booleans and choices of strings"
        raise TypeError(f"{name} cannot be a form: {error.path} does not fit; {remedy}") from None


def _field(schema: Schema, defs: Schema) -> Schema:
    """Return a field without references. Null is removed: an optional field may be left out."""
    schema = resolve(schema, defs)
    arms = [arm for arm in schema.get("anyOf", ()) if arm.get("type") != "null"]
    if len(arms) == 1:
        siblings = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**resolve(arms[0], defs), **siblings}
    if isinstance(schema.get("items"), dict):
        schema = {**schema, "items": resolve(schema["items"], defs)}
    if schema.get("default", ...) is None:
        schema = {key: value for key, value in schema.items() if key != "default"}
    if "enum" in schema and "type" not in schema:
        schema = {"type": "string", **schema}
    return schema
