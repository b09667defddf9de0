"""Server-sent events: parses chunks to events, and writes events to bytes.

Source: WHATWG HTML, "Server-sent events", sections "Parsing" and "Interpreting an event stream".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcp_runtime.core.wire.lines import ENDS_BYTES, TooLong

_BOM: Final = b"\xef\xbb\xbf"
_ENDS: Final = b"\r\n"
_MESSAGE: Final = "message"
_MAX_DIGITS: Final = 15


@dataclass(frozen=True, slots=True)
class Event:
    """An event; `id` is empty if the stream has named none yet, `retry` is in milliseconds."""

    id: str = ""
    name: str = _MESSAGE
    data: bytes = b""
    retry: int | None = None


def encode(event: Event) -> bytes:
    """Write the event as a block of its stream, always with `data`: clients ignore others.

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
    """A parser for the chunks of one stream, cut anywhere; it buffers at most `limit` bytes.

    `id` and `retry` are the last values of the stream, with or without an event. An unfinished
    event at the end of the stream is dropped; an event above the limit is reported and skipped.
    """

    def __init__(self, limit: int) -> None:
        self.id = ""
        self.retry: int | None = None
        self._limit = limit
        self._line = bytearray()
        self._after_cr = False
        self._first = True
        self._next_id = ""
        self._skipped: bytes | None = None
        """The beginning of the event being skipped; `_tail` is its end so far."""
        self._tail = b""
        self._forget()

    def feed(self, chunk: bytes) -> Iterator[Event | TooLong]:
        """Yield each event completed by `chunk`."""
        if not chunk:
            return
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        for piece in chunk.splitlines(keepends=True):
            line = piece.rstrip(_ENDS)
            yield from self._hold(line)
            if len(line) != len(piece):
                yield from self._end_line()

    def _hold(self, more: bytes) -> Iterator[TooLong]:
        self._line += more
        if self._skipped is None and self._size + len(self._line) > self._limit:
            head = self._skipped = self._head()
            yield TooLong(self._limit, head)
        if self._skipped is not None:
            self._tail = (self._tail + more)[-ENDS_BYTES:]
            del self._line[1:]

    def _head(self) -> bytes:
        """Return the beginning of the data of an unfinished event."""
        field, _, value = bytes(self._line[: 2 * ENDS_BYTES]).partition(b":")
        last = [value.removeprefix(b" ")] if field == b"data" else []
        return b"\n".join([*self._data, *last])[:ENDS_BYTES]

    def _end_line(self) -> Iterator[Event | TooLong]:
        if self._skipped is not None:
            yield from self._end_skipped_line()
            return
        line = bytes(self._line)
        self._line.clear()
        if self._first:
            line, self._first = line.removeprefix(_BOM), False
        if not line:
            yield from self._dispatch()
        else:
            field, _, value = line.partition(b":")
            self._read_field(field, value.removeprefix(b" "))

    def _end_skipped_line(self) -> Iterator[TooLong]:
        """Drop a line of the event being skipped; an empty line ends the event."""
        if self._line:
            self._line.clear()
        elif self._skipped is not None:
            self.id = self._next_id
            yield TooLong(self._limit, self._skipped, self._tail)
            self._forget()

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
        self._skipped, self._tail = None, b""
        self._waited: int | None = None

    def _read_field(self, field: bytes, value: bytes) -> None:
        match field:
            case b"data":
                self._data.append(value)
                self._size += len(value) + 1
            case b"event":
                self._name = value.decode(errors="replace")
            case b"id" if b"\0" not in value:
                self._next_id = value.decode(errors="replace")
            case b"retry" if value.isdigit() and len(value) <= _MAX_DIGITS:
                self.retry = self._waited = int(value)
            case _:
                pass
