"""The one door to the generated bindings: what each revision has, as the runtime needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

import mcp_wire
from mcp_wire import LATEST
from mcp_wire._wire import DecodeError, EncodeError, Method, fault, is_json, parse
from mcp_wire.steps import Context, StepError, Trip, route
from mcp_wire.v2026_07_28 import calls_msgspec as latest_calls
from mcp_wire.v2026_07_28 import models_msgspec as latest

__all__ = [
    "ALL",
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
    "Trip",
    "UnsetType",
    "fault",
    "is_json",
    "latest",
    "latest_calls",
    "parse",
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
        """A model as JSON. Raises EncodeError."""
        encode: Callable[[Any], bytes] = self.models.encode
        return encode

    def type_of(self, position: Position, method: str) -> object:
        """Of a method's params or result. Raises KeyError."""
        return self._types[position][method]

    def decode(self, position: Position, method: str, raw: bytes) -> Any:
        """A body of a method. Raises DecodeError, KeyError where the method has none."""
        return self._decode(self._types[position][method], raw)

    def decode_no_params(self, method: str) -> Any:
        """What absent params are. Raises DecodeError where they are required."""
        if self.methods[method].params_required:
            raise DecodeError("$", "object", "nothing")
        return UNSET

    @cached_property
    def batches(self) -> bool:
        """Whether several messages may travel in one array."""
        return hasattr(self.models, "JSONRPCBatchRequest")

    @cached_property
    def idless_errors(self) -> bool:
        """Whether an error may leave out the id, where that could not be read."""
        try:
            self._decode(self.models.JSONRPCMessage, _IDLESS)
        except DecodeError:
            return False
        return True


_IDLESS: Final = b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}'


@cache
def revision(name: str) -> Revision:
    """The revision with that name. Raises KeyError."""
    found = mcp_wire.load(name)
    return Revision(name, found.METHODS, found.ERA)
