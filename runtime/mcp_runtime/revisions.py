"""The one door to the generated bindings: what each revision has, as the runtime needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

import mcp_wire
from mcp_wire import LATEST
from mcp_wire._wire import UNSET, DecodeError, EncodeError, Method, Unset
from mcp_wire.v2026_07_28 import calls_msgspec as latest_calls
from mcp_wire.v2026_07_28 import models_msgspec as latest

__all__ = [
    "ALL",
    "LATEST",
    "UNSET",
    "DecodeError",
    "EncodeError",
    "Era",
    "Method",
    "Revision",
    "Unset",
    "latest",
    "latest_calls",
    "revision",
]

Era: TypeAlias = Literal["handshake", "per-request"]

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
    def _calls(self) -> ModuleType:
        return mcp_wire.load(self.name, "calls_msgspec")

    @cached_property
    def decode_params(self) -> Callable[[str, bytes], Any]:
        """By method. Raises DecodeError, KeyError for an unknown method."""
        found: Callable[[str, bytes], Any] = self._calls.decode_params
        return found

    @cached_property
    def decode_result(self) -> Callable[[str, bytes], Any]:
        """By method. Raises DecodeError, KeyError for an unknown method."""
        found: Callable[[str, bytes], Any] = self._calls.decode_result
        return found

    @cached_property
    def encode(self) -> Callable[[Any], bytes]:
        """A model as JSON. Raises EncodeError."""
        found: Callable[[Any], bytes] = self._calls.encode
        return found

    def has(self, method: str) -> bool:
        return method in self.methods

    @cached_property
    def batches(self) -> bool:
        """Whether several messages may travel in one array."""
        return hasattr(self.models, "JSONRPCBatchRequest")


@cache
def revision(name: str) -> Revision:
    """The revision with that name. Raises KeyError."""
    found = mcp_wire.load(name)
    return Revision(name, found.METHODS, found.ERA)
