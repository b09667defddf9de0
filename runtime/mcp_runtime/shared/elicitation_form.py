"""Forms for the user: a class or a schema, as far as a client can show it.

Source: 2026-07-28 client/elicitation, "Requested Schema".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from msgspec import UNSET

from mcp_runtime.errors import BadAnswer
from mcp_runtime.json_schema.type_adapter import Mismatch, adapter
from mcp_runtime.revisions import DecodeError
from mcp_runtime.revisions import latest as t

__all__ = ["Form", "form", "mismatch"]


@dataclass(frozen=True, slots=True)
class Form:
    """`read` makes of what the user filled in a value of the class. It raises BadAnswer."""

    schema: t.ElicitRequestFormParamsRequestedSchema
    read: Callable[[Any], Any]


def form(of: type[Any] | Mapping[str, Any]) -> Form:
    """Raises TypeError for what is more than a flat row of simple fields."""
    if isinstance(of, Mapping):
        shown = _shown(dict(of), "the schema")
        return Form(shown, lambda content: _checked(shown, content))
    reader = adapter(of)
    schema, _ = _resolved(reader.schema)

    def read(content: Any) -> Any:
        try:
            return reader.read(content)
        except Mismatch as mismatch:
            raise BadAnswer(f"what the user filled in is not what was asked: {mismatch}") from None

    return Form(_shown(schema, of.__name__), read)


def _checked(schema: t.ElicitRequestFormParamsRequestedSchema, content: Any) -> Any:
    if fault := mismatch(schema, content):
        raise BadAnswer(f"what the user filled in is not what was asked: {fault}")
    return content


def mismatch(schema: t.ElicitRequestFormParamsRequestedSchema, content: Any) -> str:
    """What is wrong with what was filled in; empty if nothing is."""
    told: Mapping[str, Any] = t.to_wire(schema)
    given: Mapping[str, Any] = {} if content is UNSET or content is None else content
    for name in told.get("required", ()):
        if name not in given:
            return f"{name!r} is missing"
    for name, value in given.items():
        if name in told["properties"] and (fault := _fault(told["properties"][name], value)):
            return f"{name!r}: {fault}"
    return ""


def _fault(field: Mapping[str, Any], value: Any) -> str:
    kind = field["type"]
    if not _KINDS[kind](value):
        return f"expected {kind}"
    if kind == "array":
        choices = field["items"]
        within = all(_is_choice(choices, item) for item in value)
    else:
        within = _is_choice(field, value)
    if not within:
        return "it is none of the choices"
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
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str)
        for item in value  # pyright: ignore[reportUnknownVariableType]
    )


_KINDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "number": _is_number,
    "integer": lambda value: _is_number(value) and value == int(value),
    "boolean": lambda value: isinstance(value, bool),
    "array": _is_texts,
}
_BOUNDS: Final[tuple[tuple[str, str, Callable[[Any], Any]], ...]] = (
    ("minLength", "maxLength", len),
    ("minItems", "maxItems", len),
    ("minimum", "maximum", lambda value: value),
)


def _resolved(schema: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The schema with the definitions it refers to put in their places, and these."""
    defs = cast("Mapping[str, Any]", schema.get("$defs", {}))
    found = _inline({key: value for key, value in schema.items() if key != "$defs"}, defs, 0)
    return found, defs


def _inline(schema: Any, defs: Mapping[str, Any], depth: int) -> Any:
    if isinstance(schema, list):
        return [_inline(item, defs, depth) for item in schema]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return schema
    told = cast("dict[str, Any]", schema)
    name = str(told.get("$ref", "")).removeprefix("#/$defs/")
    if name in defs and depth < 8:
        beside = {key: value for key, value in told.items() if key != "$ref"}
        return _inline({**defs[name], **beside}, defs, depth + 1)
    return {key: _inline(value, defs, depth) for key, value in told.items()}


def _shown(schema: dict[str, Any], name: str) -> t.ElicitRequestFormParamsRequestedSchema:
    properties = {
        key: _field(value) for key, value in cast("dict[str, Any]", schema["properties"]).items()
    }
    told: dict[str, Any] = {"type": "object", "properties": properties}
    if schema.get("required"):
        told["required"] = schema["required"]
    try:
        return t.from_wire(t.ElicitRequestFormParamsRequestedSchema, told)
    except DecodeError as error:
        remedy = "a form has strings, numbers, booleans and choices of strings only"
        raise TypeError(f"{name} is no form: {error}; {remedy}") from None


def _field(schema: dict[str, Any]) -> dict[str, Any]:
    """An optional field is one that may be left out, not one that is null."""
    arms = [arm for arm in schema.get("anyOf", ()) if arm.get("type") != "null"]
    if len(arms) == 1:
        beside = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**arms[0], **beside}
    if schema.get("default", ...) is None:
        schema = {key: value for key, value in schema.items() if key != "default"}
    if "enum" in schema and "type" not in schema:
        schema = {"type": "string", **schema}
    return schema
