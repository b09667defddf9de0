"""Server-sent events: parses chunks to events, and writes events to bytes.

Source: WHATWG HTML, "Server-sent events", sections "Parsing" and "Interpreting an event stream".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from mcp_runtime.errors import TooMuch

__all__ = ["Event", "Events", "encode"]

_BOM: Final = b"\xef\xbb\xbf"
_ENDS: Final = b"\r\n"
_MESSAGE: Final = "message"
_MAX_DIGITS: Final = 15


@dataclass(frozen=True, slots=True)
class Event:
    """`id` is empty where the stream has named none yet; `retry` is in milliseconds."""

    id: str = ""
    name: str = _MESSAGE
    data: bytes = b""
    retry: int | None = None


def encode(event: Event) -> bytes:
    """The event as a block of its stream; it always has `data`, so that it is heard.

    Raises ValueError for an id or a name with a line end or NUL.
    """
    head = _field(b"id", event.id) if event.id else b""
    if event.name != _MESSAGE:
        head += _field(b"event", event.name)
    if event.retry is not None:
        head += b"retry: %d\n" % event.retry
    lines = event.data.splitlines() if event.data else [b""]
    if event.data[-1:] in (b"\r", b"\n"):
        lines.append(b"")
    return head + b"".join(b"data: %b\n" % line for line in lines) + b"\n"


def _field(name: bytes, value: str) -> bytes:
    if not {"\r", "\n", "\0"}.isdisjoint(value):
        raise ValueError(f"{name.decode()} of an event: {value[:80]!r} has a line end or NUL")
    return b"%b: %b\n" % (name, value.encode())


class Events:
    """Parses the chunks of one stream, cut anywhere; holds at most `limit` bytes of an event.

    `id` and `retry` are the last that the stream has named, with or without an event. An event that
    is unfinished at the end of the stream is dropped.
    """

    def __init__(self, limit: int) -> None:
        self.id = ""
        self.retry: int | None = None
        self._limit = limit
        self._line = bytearray()
        self._after_cr = False
        self._first = True
        self._set: Final[dict[bytes, Callable[[bytes], None]]] = {
            b"data": self._add_data,
            b"event": self._set_name,
            b"id": self._set_id,
            b"retry": self._set_retry,
        }
        self._next_id = ""
        self._forget()

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that end in `chunk`. Raises TooMuch; then the stream is of no more use."""
        if not chunk:
            return
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        for piece in chunk.splitlines(keepends=True):
            line = piece.rstrip(_ENDS)
            self._hold(line)
            if len(line) != len(piece):
                yield from self._end_line()

    def _hold(self, more: bytes) -> None:
        self._line += more
        if self._size + len(self._line) > self._limit:
            raise TooMuch(f"an event of more than {self._limit} bytes")

    def _end_line(self) -> Iterator[Event]:
        line = bytes(self._line)
        self._line.clear()
        if self._first:
            line, self._first = line.removeprefix(_BOM), False
        if not line:
            yield from self._dispatch()
        elif (field := line.partition(b":"))[0] in self._set:
            self._set[field[0]](field[2].removeprefix(b" "))

    def _dispatch(self) -> Iterator[Event]:
        self.id = self._next_id
        if self._data:
            name = self._name or _MESSAGE
            yield Event(self.id, name, b"\n".join(self._data), self._waited)
        self._forget()

    def _forget(self) -> None:
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0
        self._waited: int | None = None

    def _add_data(self, value: bytes) -> None:
        self._data.append(value)
        self._size += len(value) + 1

    def _set_name(self, value: bytes) -> None:
        self._name = value.decode(errors="replace")

    def _set_id(self, value: bytes) -> None:
        if b"\0" not in value:
            self._next_id = value.decode(errors="replace")

    def _set_retry(self, value: bytes) -> None:
        if value.isdigit() and len(value) <= _MAX_DIGITS:
            self.retry = self._waited = int(value)
