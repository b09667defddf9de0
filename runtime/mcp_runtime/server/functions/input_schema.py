"""What a handler takes: as JSON Schema, and as a reader of what a peer gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import NoneType
from typing import Any, Final

import msgspec
from msgspec import Struct

from mcp_runtime.json_schema.to_json import BadResult, to_json
from mcp_runtime.json_schema.type_adapter import (
    Mismatch,
    MsgspecAdapter,
    Schema,
    TypeAdapter,
    adapter,
    join,
    mentions,
    native_schema,
    refers,
)
from mcp_runtime.server.functions.parameters import Default, Facts, Header, Parameter

__all__ = ["Arguments", "BadArguments", "take"]


class BadArguments(Exception):
    """What the peer gave does not fit; the text, for a model, has the path and what fits there."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Reads what a peer gives into keyword arguments."""

    native: MsgspecAdapter
    foreign: tuple[tuple[str, TypeAdapter], ...] = ()

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        try:
            found = msgspec.structs.asdict(self.native.read(given))
            for name, each in self.foreign:
                if name in given:
                    found[name] = _read_at(f"$.{name}", each, given[name])
        except Mismatch as mismatch:
            raise BadArguments(str(mismatch)) from None
        return found


def _read_at(place: str, of: TypeAdapter, value: Any) -> Any:
    try:
        return of.read(value)
    except Mismatch as mismatch:
        raise mismatch.within(place) from None


def take(facts: Facts, *, strict: bool = True) -> tuple[Arguments, Schema]:
    """What reads the arguments, `strict` as Native does, and their schema. Raises TypeError."""
    adapters = {each.name: _adapter(facts, each) for each in facts.parameters}
    foreign = {name: one for name, one in adapters.items() if not isinstance(one, MsgspecAdapter)}
    fields = [_field(each, each.name in foreign) for each in facts.parameters]
    struct = _struct(facts, fields)
    schema, defs = _object(native_schema(struct))
    for each in facts.parameters:
        schema["properties"][each.name] = _property(
            schema["properties"][each.name], foreign.get(each.name), each, facts, defs
        )
    _check_headers(facts, schema["properties"])
    defs = {name: one for name, one in defs.items() if refers(schema, defs, name)}
    schema |= {"$defs": defs} if defs else {}
    return Arguments(MsgspecAdapter(struct, schema, strict), tuple(foreign.items())), schema


def _adapter(facts: Facts, parameter: Parameter) -> TypeAdapter:
    try:
        return adapter(parameter.annotation)
    except TypeError as error:
        what = str(error).splitlines()[0]
        return facts.refuse(
            parameter.name,
            what,
            "use plain types, dataclasses, TypedDict, msgspec.Struct or models of pydantic",
        )


_CONSTANT: Final = (NoneType, bool, int, float, str, bytes, Enum)


def _field(parameter: Parameter, is_foreign: bool) -> tuple[str, Any, Any]:
    annotation = Any if is_foreign else parameter.annotation
    if parameter.default is None:
        return parameter.name, annotation, msgspec.field()
    default = parameter.default.make() if parameter.default.shown else None
    if parameter.default.shown and isinstance(default, _CONSTANT):
        return parameter.name, annotation, msgspec.field(default=default)
    return parameter.name, annotation, msgspec.field(default_factory=parameter.default.make)


def _struct(facts: Facts, fields: list[tuple[str, Any, Any]]) -> type[Struct]:
    return msgspec.defstruct(
        f"{facts.name}_arguments", fields, kw_only=True, forbid_unknown_fields=True, gc=False
    )


def _object(schema: Schema) -> tuple[Schema, Schema]:
    """The struct's own schema, and the definitions of the rest."""
    defs: Schema = schema["$defs"]
    root = defs.pop(schema["$ref"].rpartition("/")[2])
    found = {"type": "object", "properties": dict(root["properties"])}
    if root["required"]:
        found["required"] = root["required"]
    return {**found, "additionalProperties": False}, defs


def _property(
    native: Schema, foreign: TypeAdapter | None, parameter: Parameter, facts: Facts, defs: Schema
) -> Schema:
    found = dict(native if foreign is None else foreign.schema)
    if foreign is not None:
        join(defs, found.pop("$defs", {}))
    if parameter.header:
        found = _typed(found, defs) | {"x-mcp-header": parameter.header.name}
    told = facts.doc.parameters.get(parameter.name)
    if description := parameter.description or found.get("description") or told:
        found["description"] = description
    return _with_default(found, parameter.default)


def _with_default(schema: Schema, default: Default | None) -> Schema:
    if default is None or not default.shown:
        return schema
    try:
        return {**schema, "default": to_json(default.make())}
    except BadResult:
        return {name: each for name, each in schema.items() if name != "default"}


# ---- headers


_HEADED: Final = {str: "string", int: "integer", bool: "boolean"}


def _typed(schema: Schema, defs: Schema) -> Schema:
    """An enumeration in place, with the type of its values, if they have but one."""
    if "$ref" in schema:
        schema = {**defs[schema["$ref"].rpartition("/")[2]], **schema}
        del schema["$ref"]
    values: list[object] = schema.get("enum", [])
    for kind, name in _HEADED.items():
        if values and all(value.__class__ is kind for value in values):
            return {"type": name, **schema}
    return schema


def _check_headers(facts: Facts, properties: Schema) -> None:
    """Source: 2026-07-28 server/tools, "x-mcp-header"."""
    seen: set[str] = set()
    for each in facts.parameters:
        schema = properties[each.name]
        notes = mentions(each.annotation)
        if any(isinstance(note, Header) and note is not each.header for note in notes):
            facts.refuse(each.name, "has a Header inside its type", "put it on the parameter")
        if each.header is None:
            continue
        if schema.get("type") not in _HEADED.values():
            facts.refuse(each.name, "cannot have a Header", "annotate it with str, int or bool")
        if each.header.name.lower() in seen:
            facts.refuse(each.name, f"Header {each.header.name} stands twice", "rename it")
        seen.add(each.header.name.lower())
