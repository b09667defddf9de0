"""Forms for the user: a class or a schema, as far as a client can show it.

Source: 2026-07-28 client/elicitation, "Requested Schema".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp_runtime.adapters import Misfit, adapter
from mcp_runtime.errors import BadAnswer
from mcp_runtime.revisions import DecodeError
from mcp_runtime.revisions import latest as t

__all__ = ["Form", "form"]


@dataclass(frozen=True, slots=True)
class Form:
    """`read` makes of what the user filled in a value of the class. It raises BadAnswer."""

    schema: t.ElicitRequestFormParamsRequestedSchema
    read: Callable[[Any], Any]


def form(of: type[Any] | Mapping[str, Any]) -> Form:
    """Raises TypeError for what is more than a flat row of simple fields."""
    if isinstance(of, Mapping):
        return Form(_shown(dict(of), "the schema"), lambda content: content)
    reader = adapter(of)
    schema, _ = _resolved(reader.schema)

    def read(content: Any) -> Any:
        try:
            return reader.read(content)
        except Misfit as misfit:
            raise BadAnswer(f"what the user filled in is not what was asked: {misfit}") from None

    return Form(_shown(schema, of.__name__), read)


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
