"""The only module that imports the generated bindings: what the runtime needs of each revision.

Some revisions give a method another name. The runtime knows each method by its first name, the one
in the oldest revision that has it; tables here have first names as keys, and only what travels has
the name of its revision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args, get_type_hints

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

import mcp_wire
from mcp_wire import HANDLERS, LATEST
from mcp_wire._msgspec import EXTRA, Open, make
from mcp_wire._types_msgspec import plain_annotation
from mcp_wire._wire.digests import definition_digest, list_digest
from mcp_wire._wire.faults import DecodeError, EncodeError, fault, kind
from mcp_wire._wire.methods import Method, Tolerance
from mcp_wire._wire.text import check_depth, is_json, parse
from mcp_wire.handlers_msgspec import calls as latest_calls
from mcp_wire.handlers_msgspec import models as latest
from mcp_wire.steps import FIRST_NAMES, Context, StepError, Trip
from mcp_wire.steps import route as route_of_names

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
    "first_name",
    "is_json",
    "kind",
    "latest",
    "latest_calls",
    "list_digest",
    "make",
    "model_members",
    "parse",
    "plain_annotation",
    "result_type",
    "revision",
    "route",
]

Era: TypeAlias = Literal["handshake", "per-request"]
Position: TypeAlias = Literal["params", "result"]
_FIRST: Final = {name: first for names in FIRST_NAMES.values() for name, first in names.items()}

ALL: Final[tuple[str, ...]] = tuple(mcp_wire.REVISIONS)
"""Every revision, oldest first."""


class Revision(Struct, frozen=True, dict=True):
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
    renamed: Mapping[str, str]
    """The names of methods that travel under another name than their first, by first name."""

    def wire_name(self, method: str) -> str:
        """Return the name under which a method travels."""
        return self.renamed.get(method, method)

    def first_name(self, name: str) -> str | None:
        """Return the first name of a method that travels as `name`.

        None for a first name that this revision has replaced: no peer may use it.
        """
        if not self.renamed:
            return name
        if name in self.renamed:
            return None
        return next((first for first, here in self.renamed.items() if here == name), name)

    @cached_property
    def _plain(self) -> dict[str, object]:
        return {}

    @cached_property
    def models(self) -> ModuleType:
        return mcp_wire.load(self.name, "models_msgspec")

    @cached_property
    def _types(self) -> Mapping[str, Mapping[str, object]]:
        calls = mcp_wire.load(self.name, "calls_msgspec")
        names = FIRST_NAMES.get(self.name, _NONE)
        return {
            "params": _by_first_name(calls.PARAMS, names),
            "result": _by_first_name(calls.RESULTS, names),
        }

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

    def decode_plain(self, method: str, raw: bytes) -> Any:
        """Decode the result of a request that is answered at once: the arm of the result's type
        which is a result of this method alone. Raises DecodeError, and KeyError.
        """
        if method not in self._plain:
            of = self._types["result"][method]
            others = [each for name, each in self._types["result"].items() if name != method]
            shared = {arm for each in others for arm in get_args(each)}
            self._plain[method] = next((a for a in get_args(of) if a not in shared), of)
        return self._decode(self._plain[method], raw)

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
    tables, names = mcp_wire.load(name), FIRST_NAMES.get(name, _NONE)
    methods: Mapping[str, Method] = tables.METHODS
    return Revision(
        name,
        {key: one._replace(name=key) for key, one in _by_first_name(methods, names).items()}
        if names
        else methods,
        tables.ERA,
        version_header=tables.VERSION_HEADER,
        primed_streams=tables.PRIMED_STREAMS,
        tolerances=tables.TOLERANCES,
        renamed={first: here for here, first in names.items()},
    )


def _first_name(method: str) -> str:
    return _FIRST.get(method, method)


first_name: Final[Callable[[str], str]] = _first_name if _FIRST else str
"""Return the first name of a method, whichever revision's name is given.

Where no revision renames a method, each request is spared a call.
"""


def result_type(method: str) -> object:
    """Return the type of a method's result in the handlers' revision. Raises KeyError."""
    return revision(HANDLERS).type_of("result", first_name(method))


def route(
    from_: str, to: str, method: str, position: str, *, bare: bool = False
) -> Callable[[Any, Trip], Any]:
    """Return the function which converts a body between revisions. Raises StepError."""
    return route_of_names(from_, to, revision(from_).wire_name(method), position, bare=bare)


_Of = TypeVar("_Of")
_NONE: Final[Mapping[str, str]] = {}


def _by_first_name(table: Mapping[str, _Of], names: Mapping[str, str]) -> Mapping[str, _Of]:
    return {names.get(name, name): of for name, of in table.items()} if names else table
