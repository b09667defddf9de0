"""Carries bodies between the revision that a peer speaks and the newest one, ours.

What arrives is valid in the peer's revision or refused there, with its own words and paths; then
the steps between the revisions carry it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from mcp_runtime.core.tolerances import Tolerances
from mcp_runtime.revisions import (
    LATEST,
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

__all__ = ["Translation"]

_NEWEST: Final = revision(LATEST)
_parse: Final = msgspec.json.decode
_dump: Final = msgspec.json.encode


class Translation:
    """Bodies of one peer: bytes of its `revision` to models of the newest one, and back.

    A method that the newest revision does not have is read and written with the models of the
    peer's, and as JSON objects if that does not have it either. Reading raises DecodeError, writing
    EncodeError; both raise StepError for what the other revision cannot say.
    """

    def __init__(self, revision: Revision, context: Context, tolerances: Tolerances) -> None:
        self.revision = revision
        self.context = context
        self.tolerances = tolerances
        self._same = revision.name == LATEST
        self._ways: dict[tuple[Position, str, bool], Callable[[Any, Trip], Any] | None] = {}

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
        way = None if self._same else self._way(position, method, up=True)
        if not raw:
            native = self.revision.decode_no_params(method)
        else:
            raw, native = self.tolerances.decode(self.revision, position, method, raw)
        if way is None:
            return native
        value = way(_parse(raw) if raw else None, Trip(self.context))
        if value is None:
            return UNSET
        return latest.from_wire(_NEWEST.type_of(position, method), value)

    def _write(self, position: Position, method: str, value: Any) -> bytes:
        way = None if self._same else self._way(position, method, up=False)
        if way is None:
            return self.revision.encode(value)
        carried = way(latest.to_wire(value), Trip(self.context))
        return b"" if carried is None else _dump(carried)

    def _way(
        self, position: Position, method: str, *, up: bool
    ) -> Callable[[Any, Trip], Any] | None:
        """None where the newest revision does not have the method, or nothing is to be done."""
        key = position, method, up
        if key not in self._ways:
            here, there = (self.revision.name, LATEST) if up else (LATEST, self.revision.name)
            known = method in _NEWEST.methods
            self._ways[key] = route(here, there, method, position, bare=True) if known else None
        return self._ways[key]


def _object(raw: bytes) -> dict[str, Any]:
    """Raises DecodeError."""
    found = parse(raw)
    if not isinstance(found, dict):
        raise DecodeError("$", "object", type(found).__name__)
    return cast("dict[str, Any]", found)
