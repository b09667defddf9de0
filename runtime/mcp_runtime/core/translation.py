"""Translates bodies between the revision that the peer speaks and the one that handlers use.

A received body is validated by the peer's revision first, so that errors have its paths; then the
steps between the revisions convert it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import msgspec

from mcp_runtime.core.jsonrpc import Id
from mcp_runtime.core.tolerances import Tolerances
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

__all__ = ["Terms", "Translation", "Translations"]

_HANDLED: Final = revision(HANDLERS)
_parse: Final = msgspec.json.decode
_dump: Final = msgspec.json.encode


class Translation:
    """Translates the bytes of one peer's `revision` to models that handlers use, and back.

    A method that the handlers' revision does not have is read and written with the peer's models,
    and as JSON objects if the peer's revision does not have it either. Reading raises DecodeError,
    writing EncodeError; both raise StepError for what the other revision cannot express.
    """

    def __init__(self, revision: Revision, context: Context, tolerances: Tolerances) -> None:
        self.revision = revision
        self.context = context
        self.tolerances = tolerances
        self._same = revision.name == HANDLERS
        self._steps: dict[tuple[Position, str, bool], Callable[[Any, Trip], Any] | None] = {}

    def read_params(self, method: str, raw: bytes) -> Any:
        """The params of a message from the peer; UNSET where there are none."""
        return self._read("params", method, raw)

    def read_result(self, method: str, raw: bytes) -> Any:
        return self._read("result", method, raw)

    def write_params(self, method: str, params: Any) -> bytes:
        """JSON; empty for UNSET."""
        return b"" if params is UNSET else self._write("params", method, params)

    def write_result(self, method: str, result: Any) -> bytes:
        return self._write("result", method, result)

    def _read(self, position: Position, method: str, raw: bytes) -> Any:
        if method not in self.revision.methods:
            return _object(raw) if raw else UNSET
        step = None if self._same else self._step(position, method, up=True)
        if not raw:
            native = self.revision.decode_no_params(method)
        else:
            try:
                native = self.revision.decode(position, method, raw)
            except DecodeError:
                raw, native = self.tolerances.decode(self.revision, position, method, raw)
        if step is None:
            return native
        value = step(_parse(raw) if raw else None, Trip(self.context))
        if value is None:
            return UNSET
        return latest.from_wire(_HANDLED.type_of(position, method), value)

    def _write(self, position: Position, method: str, value: Any) -> bytes:
        step = None if self._same else self._step(position, method, up=False)
        if step is None:
            return self.revision.encode(value)
        carried = step(latest.to_wire(value), Trip(self.context))
        return b"" if carried is None else _dump(carried)

    def _step(
        self, position: Position, method: str, *, up: bool
    ) -> Callable[[Any, Trip], Any] | None:
        """None where the handlers' revision does not have the method, or nothing is to be done."""
        key = position, method, up
        if key not in self._steps:
            here, there = (self.revision.name, HANDLERS) if up else (HANDLERS, self.revision.name)
            known = method in _HANDLED.methods
            self._steps[key] = route(here, there, method, position, bare=True) if known else None
        return self._steps[key]


class Translations:
    """Translations for revisions without a handshake, whose messages carry all that others need.

    Sessions may share one.
    """

    def __init__(self, tolerances: Tolerances) -> None:
        self.tolerances = tolerances
        self._by_revision: dict[str, Translation] = {}

    def of(self, version: str) -> Translation:
        """Raises KeyError for an unknown revision."""
        if version not in self._by_revision:
            translation = Translation(revision(version), Context(), self.tolerances)
            self._by_revision[version] = translation
        return self._by_revision[version]


class Terms(msgspec.Struct, frozen=True):
    """How messages are read and answered, agreed in a handshake or named by each request.

    `info` and `capabilities` are the peer's, as parsed JSON; `token` is for progress.
    """

    translation: Translation
    info: Mapping[str, Any] | None
    capabilities: Mapping[str, Any]
    token: Id | None = None
    log_level: str | None = None


def _object(raw: bytes) -> dict[str, Any]:
    """Raises DecodeError."""
    body = parse(raw)
    if not isinstance(body, dict):
        raise DecodeError("$", "object", type(body).__name__)
    return cast("dict[str, Any]", body)
