"""The only module that imports the generated bindings: what the runtime needs of each revision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias, get_type_hints

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

import mcp_wire
from mcp_wire import HANDLERS, LATEST
from mcp_wire._msgspec import EXTRA, Open, make
from mcp_wire._types_msgspec import plain_annotation
from mcp_wire._wire.digests import definition_digest
from mcp_wire._wire.faults import DecodeError, EncodeError, fault, kind
from mcp_wire._wire.methods import Method, Tolerance
from mcp_wire._wire.text import check_depth, is_json, parse
from mcp_wire.handlers_msgspec import calls as latest_calls
from mcp_wire.handlers_msgspec import models as latest
from mcp_wire.steps import Context, StepError, Trip, route

__all__ = [
    "ALL",
    "EXTRA",
    "HANDLERS",
    "LATEST",
    "UNSET",
    "Context",
    "DecodeError",
    "EncodeError",
    "Era",
    "Method",
    "Position",
    "Revision",
    "StepError",
    "Tolerance",
    "Trip",
    "UnsetType",
    "check_depth",
    "definition_digest",
    "fault",
    "is_json",
    "kind",
    "latest",
    "latest_calls",
    "make",
    "model_members",
    "parse",
    "plain_annotation",
    "revision",
    "route",
]

Era: TypeAlias = Literal["handshake", "per-request"]
Position: TypeAlias = Literal["params", "result"]

ALL: Final[tuple[str, ...]] = tuple(mcp_wire.REVISIONS)
"""Every revision, oldest first."""


@dataclass(frozen=True)
class Revision:
    """One revision: its tables now, its models when they are first needed."""

    name: str
    methods: Mapping[str, Method]
    era: Era
    version_header: bool
    """True if a client repeats the agreed revision in a header of each HTTP request."""
    primed_streams: bool
    """True if an HTTP stream begins with an event with an id and no data."""
    tolerances: tuple[Tolerance, ...]
    """Faults in messages of peers that are repaired."""

    @cached_property
    def models(self) -> ModuleType:
        return mcp_wire.load(self.name, "models_msgspec")

    @cached_property
    def _types(self) -> Mapping[str, Mapping[str, object]]:
        calls = mcp_wire.load(self.name, "calls_msgspec")
        return {"params": calls.PARAMS, "result": calls.RESULTS}

    @cached_property
    def _decode(self) -> Callable[[object, bytes], Any]:
        decode: Callable[[object, bytes], Any] = self.models.decode
        return decode

    @cached_property
    def encode(self) -> Callable[[Any], bytes]:
        """Encodes a model as JSON. Raises EncodeError."""
        encode: Callable[[Any], bytes] = self.models.encode
        return encode

    def type_of(self, position: Position, method: str) -> object:
        """The type of a method's params or result. Raises KeyError."""
        return self._types[position][method]

    def decode(self, position: Position, method: str, raw: bytes) -> Any:
        """The model of a body. Raises DecodeError, and KeyError where the method has none."""
        return self._decode(self._types[position][method], raw)

    def decode_no_params(self, method: str) -> Any:
        """UNSET for absent params. Raises DecodeError where they are required."""
        if self.methods[method].params_required:
            raise DecodeError("$", "object", "nothing")
        return UNSET

    @cached_property
    def batches(self) -> bool:
        """Return True if several messages may travel in one array."""
        return hasattr(self.models, "JSONRPCBatchRequest")

    @cached_property
    def idless_errors(self) -> bool:
        """Return True if an error response may lack the id, where the request's id could not be
        read.
        """
        try:
            self._decode(self.models.JSONRPCMessage, _IDLESS)
        except DecodeError:
            return False
        return True


def model_members(cls: type) -> dict[str, Any]:
    """Return the annotation of each member of a model's class, by wire name; empty for any other
    class.

    A constant naming the class of an object is among them.
    """
    if issubclass(cls, Open):
        hints = get_type_hints(cls, include_extras=True)
        return {wire: hints[name] for name, wire in cls.wires_.items()}
    if not issubclass(cls, Struct):
        return {}
    members = {
        each.encode_name: each.type if each.required else each.type | UnsetType
        for each in fields(cls)
        if each.name != EXTRA
    }
    config = cls.__struct_config__
    return (
        members if config.tag_field is None else {config.tag_field: Literal[config.tag], **members}
    )


_IDLESS: Final = b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}'


@cache
def revision(name: str) -> Revision:
    """Return the revision with this name. Raises KeyError."""
    tables = mcp_wire.load(name)
    return Revision(
        name,
        tables.METHODS,
        tables.ERA,
        version_header=tables.VERSION_HEADER,
        primed_streams=tables.PRIMED_STREAMS,
        tolerances=tables.TOLERANCES,
    )
