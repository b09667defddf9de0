"""Builds the input schema of a handler, and the reader of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, Final, cast

import msgspec
from msgspec import Struct, defstruct

from mcp_runtime.json_schema.class_defaults import class_defaults, fill_class_defaults
from mcp_runtime.json_schema.mismatch import Mismatch
from mcp_runtime.json_schema.to_json import BadResult, to_json
from mcp_runtime.json_schema.type_adapter import (
    MsgspecAdapter,
    TypeAdapter,
    adapter,
    is_path,
    join,
    mentions,
    native_schema,
)
from mcp_runtime.json_schema.walk import Schema, every, inline_leaves, resolve
from mcp_runtime.server.functions.parameters import Default, FunctionInfo, Header, Parameter
from mcp_runtime.shared.safe_path import path_fault, paths_in


class BadArguments(Exception):
    """Arguments do not fit the input schema. The text tells a model the place and the expected
    value.
    """


class ArgumentsReader(Struct, frozen=True):
    """Reads a peer's arguments into keyword arguments, as the schema says.

    `native` reads the parameters msgspec knows, and `foreign` the others, by name. Dataclasses
    of the parameters in `incomplete` get their defaults. Paths in those of `guarded` are checked.
    """

    native: MsgspecAdapter
    foreign: tuple[tuple[str, TypeAdapter], ...]
    incomplete: tuple[str, ...]
    guarded: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        return self.native.schema

    def read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments, with the defaults of those that are absent. Raises BadArguments.

        Source: JSON Schema 2020-12 validation, "type": 5.0 is an integer, though not in Python.
        """
        try:
            return self._read(arguments)
        except Mismatch as mismatch:
            first = mismatch
        try:
            return self._read(_with_integers(arguments))
        except Mismatch as mismatch:
            raise BadArguments(str(mismatch)) from None
        except RecursionError:
            raise BadArguments(str(first)) from None

    def _read(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        keywords = msgspec.structs.asdict(self.native.read(arguments))
        for name, each in self.foreign:
            if name in arguments:
                keywords[name] = _read_at(f"$.{name}", each, arguments[name])
        for name in self.incomplete:
            if name in arguments:
                fill_class_defaults(keywords[name])
        for name in self.guarded:
            if name in arguments:
                _require_safe_paths(keywords[name], name)
        return keywords


def _require_safe_paths(value: object, name: str) -> None:
    """Raise Mismatch for the first path out of its folder."""
    for at, path in paths_in(value, (name,)):
        if why := path_fault(path.as_posix()):
            raise Mismatch(at, f"expected a path inside a folder, found one that {why}")


def _with_integers(value: Any) -> Any:
    """Parsed JSON whose whole numbers are all of class int."""
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return {name: _with_integers(each) for name, each in members.items()}
    if isinstance(value, list):
        return [_with_integers(each) for each in cast("list[object]", value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _read_at(place: str, reader: TypeAdapter, value: Any) -> Any:
    try:
        return reader.read(value)
    except Mismatch as mismatch:
        raise mismatch.within(place) from None


def arguments_reader(info: FunctionInfo, *, strict: bool = True) -> ArgumentsReader:
    """Return the reader of a function's arguments. Without `strict` it converts text, too. Raises
    TypeError.
    """
    adapters = {each.name: _adapter(info, each) for each in info.parameters}
    foreign = {name: one for name, one in adapters.items() if not isinstance(one, MsgspecAdapter)}
    fields = [_field(each, each.name in foreign) for each in info.parameters]
    name = f"{info.name}_arguments"
    struct = defstruct(name, fields, kw_only=True, forbid_unknown_fields=True, gc=False)
    schema, defs = _object(native_schema(struct))
    for each in info.parameters:
        schema["properties"][each.name] = _property(
            schema["properties"][each.name], foreign.get(each.name), each, info, defs
        )
    _check_headers(info, schema["properties"])
    schema["$defs"] = defs
    inline_leaves(schema)
    return ArgumentsReader(
        MsgspecAdapter(struct, schema, strict, "argument"),
        tuple(foreign.items()),
        tuple(
            each.name
            for each in info.parameters
            if any(map(class_defaults, mentions(each.annotation)))
        ),
        tuple(
            each.name
            for each in info.parameters
            if not each.takes_any_path and _holds_paths(each, adapters[each.name])
        ),
    )


def _holds_paths(parameter: Parameter, adapter: TypeAdapter) -> bool:
    """Return True if values have paths: by the type, or, for models of pydantic, by their
    schema.
    """
    return any(map(is_path, mentions(parameter.annotation))) or any(
        str(each.get("format", "")).endswith("path") for each in every(adapter.schema)
    )


def _adapter(info: FunctionInfo, parameter: Parameter) -> TypeAdapter:
    try:
        return adapter(parameter.annotation)
    except TypeError as error:
        remedy = "use plain types, dataclasses, TypedDict, msgspec.Struct or models of pydantic"
        return info.refuse(parameter.name, str(error).splitlines()[0], remedy)


_CONSTANT: Final = (NoneType, bool, int, float, str, bytes, Enum)


def _field(parameter: Parameter, is_foreign: bool) -> tuple[str, Any, Any]:
    annotation = Any if is_foreign else parameter.annotation
    if parameter.default is None:
        return parameter.name, annotation, msgspec.field()
    default = parameter.default.make() if parameter.default.shown else None
    if parameter.default.shown and isinstance(default, _CONSTANT):
        return parameter.name, annotation, msgspec.field(default=default)
    return parameter.name, annotation, msgspec.field(default_factory=parameter.default.make)


def _object(schema: Schema) -> tuple[Schema, Schema]:
    """Return the schema of a struct, and the definitions it refers to."""
    defs: Schema = schema["$defs"]
    struct = defs.pop(schema["$ref"].rpartition("/")[2])
    whole = {"type": "object", "properties": dict(struct["properties"])}
    if struct["required"]:
        whole["required"] = struct["required"]
    return whole | {"additionalProperties": False}, defs


def _property(
    native: Schema,
    foreign: TypeAdapter | None,
    parameter: Parameter,
    info: FunctionInfo,
    defs: Schema,
) -> Schema:
    schema = dict(native if foreign is None else foreign.schema)
    if foreign is not None:
        join(defs, schema.pop("$defs", {}))
    if parameter.header:
        schema = resolve(schema, defs) | {"x-mcp-header": parameter.header.name}
    documented = info.doc.parameters.get(parameter.name)
    if description := parameter.description or schema.get("description") or documented:
        schema["description"] = description
    return _with_default(schema, parameter.default)


def _with_default(schema: Schema, default: Default | None) -> Schema:
    if default is None or not default.shown:
        return schema
    try:
        return {**schema, "default": to_json(default.make())}
    except BadResult:
        return {name: each for name, each in schema.items() if name != "default"}


# ---- headers


_HEADER_TYPES: Final = ("string", "integer", "boolean")


def _check_headers(info: FunctionInfo, properties: Schema) -> None:
    """Check the parameters mirrored in headers. Source: 2026-07-28 server/tools, "x-mcp-header"."""
    seen: set[str] = set()
    for each in info.parameters:
        schema = properties[each.name]
        notes = mentions(each.annotation)
        if any(isinstance(note, Header) and note is not each.header for note in notes):
            info.refuse(each.name, "has a Header inside its type", "put it on the parameter")
        if each.header is None:
            continue
        if schema.get("type") not in _HEADER_TYPES:
            info.refuse(each.name, "cannot have a Header", "annotate it with str, int or bool")
        if each.header.name.lower() in seen:
            info.refuse(each.name, f"Header {each.header.name} is there twice", "rename it")
        seen.add(each.header.name.lower())
