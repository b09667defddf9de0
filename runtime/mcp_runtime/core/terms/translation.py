"""Translates bodies between the peer's revision and the handlers' revision.

A received body is first validated by the peer's revision, so that errors have its paths; then the
steps between the revisions convert it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, cast

import msgspec

from mcp_runtime.core.terms.extension import Extension, Extensions
from mcp_runtime.core.terms.repeated_meta import RepeatedMeta
from mcp_runtime.core.terms.tolerances import Tolerances
from mcp_runtime.core.wire import rpc_errors
from mcp_runtime.core.wire.jsonrpc import Id
from mcp_runtime.revisions import (
    HANDLERS,
    UNSET,
    Context,
    DecodeError,
    Position,
    Revision,
    Trip,
    latest,
    parse,
    revision,
    route,
)

_HANDLED: Final = revision(HANDLERS)
_parse: Final = msgspec.json.decode


class Translation:
    """Translates the bytes of one peer's `revision` to the handlers' models, and back.

    A method unknown to the handlers' revision is read and written with the peer's models, and as
    JSON objects if the peer's revision does not know it either. Reading raises DecodeError, writing
    EncodeError; both raise StepError for a value with no equivalent in the other revision.
    """

    # Each session has one, so its size counts for every idle stream.
    __slots__ = (
        "_repeated",
        "_same",
        "_steps",
        "admitted",
        "context",
        "extensions",
        "methods",
        "revision",
        "tolerances",
    )

    def __init__(self, revision: Revision, context: Context, tolerances: Tolerances) -> None:
        self.extensions: Sequence[Extension] = ()
        """The extensions declared by both sides."""
        self.revision = revision
        self.context = context
        self.tolerances = tolerances
        self.methods = revision.methods
        self.admitted: dict[str, object] = {}
        """The methods served by handlers, each with the offer by which it was admitted; a client's
        carried methods, each with the terms."""
        self._same = revision.name == HANDLERS
        self._repeated = RepeatedMeta(revision.name)
        self._steps: dict[tuple[Position, str, bool], Callable[[Any, Trip], Any] | None] = {}

    def read(self, position: Position, method: str, raw: bytes) -> Any:
        """Decode the body of a message of the peer to a model; UNSET if it has none."""
        if method not in self.revision.methods:
            return _object(raw) if raw else UNSET
        if position == "result" or not raw:
            return self._read(position, method, raw)
        # Three ways, from the fastest: a known `_meta`, the exact decoder, the tolerant decoder.
        # Only exactly decoded params are remembered, so a cached `_meta` never carries a repair.
        params = self._repeated.read(method, raw)
        if params is None:
            try:
                native = self.revision.decode(position, method, raw)
            except DecodeError:
                return self._read(position, method, raw)
            params = self._convert_to_model(position, method, raw, native)
            self._repeated.keep(method, raw, params)
        return params

    def check(self, position: Position, method: str, raw: bytes, *, is_open: bool = False) -> bytes:
        """Return the JSON of a body valid in the peer's revision, repaired where it must be.

        An unknown method has any object, and so has an `is_open` result of an unknown type. Raises
        DecodeError, also for a result of an unknown type that is not open.
        """
        if not raw:
            if method in self.revision.methods:
                self.revision.decode_no_params(method)
            return raw
        if method not in self.revision.methods or (is_open and _type_of(raw) not in _CORE_RESULTS):
            _object(raw)
            return raw
        model: Any = None
        if position == "result":
            with suppress(DecodeError):  # an arm alone is decoded without the codec of unions
                model = self.revision.decode_plain(method, raw)
        if model is None:
            raw, model = self.tolerances.decode(self.revision, position, method, raw)
        if (of := getattr(model, "result_type", None)) not in _CORE_RESULTS:
            raise DecodeError("$.resultType", "complete or input_required", str(of)[:80])
        return raw

    def _read(self, position: Position, method: str, raw: bytes) -> Any:
        if not raw:
            native = self.revision.decode_no_params(method)
        else:
            raw, native = self.tolerances.decode(self.revision, position, method, raw)
        return self._convert_to_model(position, method, raw, native)

    def _convert_to_model(self, position: Position, method: str, raw: bytes, native: Any) -> Any:
        """Convert a body decoded as the peer's to the handlers' model."""
        step = None if self._same else self._step(position, method, up=True)
        if step is None:
            return native
        value = step(_parse(raw) if raw else None, Trip(self.context))
        if value is None:
            return UNSET
        return latest.from_wire(_HANDLED.type_of(position, method), value)

    def write(self, position: Position, method: str, value: Any) -> bytes:
        """Encode a model as JSON for the peer; empty for UNSET."""
        if value is UNSET:
            return b""
        step = None if self._same else self._step(position, method, up=False)
        if step is None or type(value).__module__ == self.revision.models.__name__:
            return self.revision.encode(value)
        carried = step(latest.to_wire(value), Trip(self.context))
        return b"" if carried is None else latest.encode(carried)

    def _step(
        self, position: Position, method: str, *, up: bool
    ) -> Callable[[Any, Trip], Any] | None:
        """Return the conversion of a body; None if none is needed or the method has none."""
        key = position, method, up
        if key not in self._steps:
            here, there = (self.revision.name, HANDLERS) if up else (HANDLERS, self.revision.name)
            known = method in _HANDLED.methods
            self._steps[key] = route(here, there, method, position, bare=True) if known else None
        return self._steps[key]


class ExtendedTranslation(Translation):
    """Reads and writes messages of extensions too: `ours`, of which the peer declares `shared`."""

    __slots__ = ("_ours", "_owners")

    def __init__(
        self,
        revision: Revision,
        context: Context,
        tolerances: Tolerances,
        ours: Extensions,
        shared: Sequence[Extension],
    ) -> None:
        super().__init__(revision, context, tolerances)
        self.extensions = shared
        self._ours = ours
        self._owners = {method: one for one in shared for method in one.methods}
        added = {method: one.methods[method] for method, one in self._owners.items()}
        self.methods = {**revision.methods, **added}

    def read(self, position: Position, method: str, raw: bytes) -> Any:
        if (owner := self._owners.get(method)) is not None:
            read = partial(owner.read, position, method)
            return self._read_patiently(read, owner.type_of(position, method), raw)
        widening = [one for one in self.extensions if one.widens(method)]
        if position == "result" and widening and _type_of(raw) not in _CORE_RESULTS:
            read = partial(_read_widened, widening, method)
            return self._read_patiently(read, widening[-1].type_of(position, method), raw)
        return self._restore_members(method, super().read(position, method, raw), raw)

    def _read_patiently(self, read: Callable[[bytes], Any], of: object, raw: bytes) -> Any:
        """Decode a body of an extension's type, if need be without the nulls of absent members."""
        try:
            return read(raw)
        except DecodeError:
            fixed = self.tolerances.without_nulls(of, raw)
            if fixed is None:
                raise
            return read(fixed)

    def _restore_members(self, method: str, params: Any, raw: bytes) -> Any:
        """Add to params the members needed by an extension and dropped by the steps."""
        names = () if self._same or not raw else self._ours.kept.get(method, ())
        sent: dict[str, Any] = _parse(raw) if names else {}
        kept = {name: sent[name] for name in names if name in sent}
        if not kept:
            return params
        whole = {**latest.to_wire(params), **kept}
        return latest.from_wire(_HANDLED.type_of("params", method), whole)

    def write(self, position: Position, method: str, value: Any) -> bytes:
        own = (one for one in self._ours if one.is_own(method, value))
        owner = self._owners[method] if method in self._owners else next(own, None)
        if owner is None or value is UNSET:
            return super().write(position, method, value)
        if owner not in self.extensions:
            raise rpc_errors.missing_extension(owner.identifier)
        return owner.write(position, value)


def _read_widened(widening: Sequence[Extension], method: str, raw: bytes) -> Any:
    """Decode a core method's result as a type of an extension. Raises DecodeError."""
    for one in widening[:-1]:
        with suppress(DecodeError):
            return one.read_widened(method, raw)
    return widening[-1].read_widened(method, raw)


class _Result(msgspec.Struct):
    result_type: object = msgspec.field(default="complete", name="resultType")


def _type_of(raw: bytes) -> object:
    """Return the `resultType` of a result; "complete" if it is not an object."""
    with suppress(msgspec.ValidationError):
        return _result.decode(raw).result_type
    return "complete"


_result: Final = msgspec.json.Decoder(_Result)
_CORE_RESULTS: Final = ("complete", "input_required", None)


def translation(
    revision: Revision,
    context: Context,
    tolerances: Tolerances,
    ours: Extensions,
    theirs: Mapping[str, Any],
) -> Translation:
    """Return the translation for a peer with the capabilities `theirs`.

    `ours` are our extensions.
    """
    if not ours:
        return Translation(revision, context, tolerances)
    shared = ours.shared(revision.name, theirs)
    return ExtendedTranslation(revision, context, tolerances, ours, shared)


class Translations:
    """A cache of translations for revisions without a handshake; sessions may share it.

    In these revisions a translation needs no state of its peer: each message names its own terms.
    """

    __slots__ = ("_known", "tolerances")

    def __init__(self, tolerances: Tolerances) -> None:
        self.tolerances = tolerances
        self._known: dict[tuple[str, Sequence[Extension]], Translation] = {}

    def of(self, version: str, ours: Extensions, theirs: Mapping[str, Any]) -> Translation:
        """Return the cached translation. Raises KeyError for an unknown revision."""
        key = version, ours.shared(version, theirs) if ours else ()
        if key not in self._known:
            spoken, tolerances = revision(version), self.tolerances
            self._known[key] = translation(spoken, Context(), tolerances, ours, theirs)
        return self._known[key]


class Terms(msgspec.Struct, frozen=True):
    """The terms of a request: how it is read and answered, by a handshake or by its own `_meta`.

    `info` and `capabilities` are the peer's, as parsed JSON; `token` is its progress token.
    `signature` is the end of each result's JSON in the per-request era, else empty.
    """

    translation: Translation
    info: Mapping[str, Any] | None
    capabilities: Mapping[str, Any]
    token: Id | None = None
    log_level: str | None = None
    signature: bytes = b""

    @property
    def implementation(self) -> latest.Implementation | None:
        """`info` as a model of the newest revision; None if the peer did not name itself.

        An older revision knows fewer members: where one of the others does not fit its type, the
        model has the name and the version alone.
        """
        if self.info is None:
            return None
        try:
            return latest.from_wire(latest.Implementation, self.info)
        except DecodeError:
            return latest.Implementation(name=self.info["name"], version=self.info["version"])


def _object(raw: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises DecodeError."""
    body = parse(raw)
    if not isinstance(body, dict):
        raise DecodeError("$", "object", type(body).__name__)
    return cast("dict[str, Any]", body)
