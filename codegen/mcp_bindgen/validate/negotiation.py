"""Tells which revision each message of a recorded conversation is written in.

A request may name its revision in `_meta`, and its response has the same revision. In earlier
revisions `initialize` proposed a revision, and its result fixed it for all later messages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, cast

from mcp_bindgen.limits import MAX_OPEN_REQUESTS

__all__ = ["Negotiation"]

_MARK: Final = "io.modelcontextprotocol/protocolVersion"
_AGREED: Final = "protocolVersion"
_HANDSHAKE: Final = "initialize"


class Negotiation:
    """Follows a conversation, both directions in one order.

    `known` are the recognizable revisions; `handshakes` are those of them beginning with
    `initialize`, oldest first.
    """

    def __init__(self, known: Collection[str], handshakes: Sequence[str]) -> None:
        self._known = known
        self._handshakes = handshakes
        self._current: str | None = None
        self._asked: OrderedDict[tuple[str, str], tuple[str | None, bool]] = OrderedDict()

    def revision_of(self, side: str, other: str, message: object) -> str | None:
        """The revision of a message sent by `side` to `other`; None before any message has named
        it.
        """
        members = _object(message)
        if "method" in members:
            return self._of_call(side, members)
        if "result" in members or "error" in members:
            return self._of_response(other, members)
        return self._current

    def _of_call(self, side: str, call: Mapping[str, Any]) -> str | None:
        is_handshake = call["method"] == _HANDSHAKE
        params = _object(call.get("params"))
        spoken: str | None
        if is_handshake:
            spoken = self._read(params.get(_AGREED)) or self._handshakes[-1]
        else:
            marked = self._read(_object(params.get("_meta")).get(_MARK))
            spoken = self._current = marked or self._current
        if "id" in call:
            self._asked[side, repr(call["id"])] = spoken, is_handshake
            if len(self._asked) > MAX_OPEN_REQUESTS:
                self._asked.popitem(last=False)
        return spoken

    def _of_response(self, other: str, response: Mapping[str, Any]) -> str | None:
        key = other, repr(response.get("id"))
        spoken, is_handshake = self._asked.get(key, (self._current, False))
        if is_handshake and "result" in response:
            agreed = self._read(_object(response["result"]).get(_AGREED))
            spoken = self._current = agreed or spoken
        return spoken

    def _read(self, name: object) -> str | None:
        return name if isinstance(name, str) and name in self._known else None


def _object(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
