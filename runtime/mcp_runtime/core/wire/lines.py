"""Splits a byte stream into lines, one message each.

Only 0x0A ends a line. A line above the limit is reported and skipped; the next line is read as
usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

_NEWLINE: Final = b"\n"
_BLANK: Final = b" \t\r"
ENDS_BYTES: Final = 4096
"""The bytes kept of the beginning, and of the end, of a message above the limit."""


class TooLong(Struct, frozen=True):
    """The beginning, and later the end too, of a message with more than `limit` bytes.

    It comes twice: when the limit is crossed, with `tail` None, and at the end of the message.
    """

    limit: int
    head: bytes
    tail: bytes | None = None


class Lines:
    """A splitter whose lines do not depend on the chunks; it buffers at most `limit` bytes.

    Source: all revisions, basic/transports, "stdio".
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._skipped: bytes | None = None
        """The beginning of the line being skipped; `_held` then has its end so far."""

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        """Yield each line completed by `chunk`, without its newline; blank lines are left out."""
        *lines, rest = chunk.split(_NEWLINE)
        for line in lines:
            if self._held or self._skipped is not None:
                yield from self._end_line(line)
            elif len(line) > self._limit:
                yield TooLong(self._limit, line[:ENDS_BYTES])
                yield TooLong(self._limit, line[:ENDS_BYTES], line[-ENDS_BYTES:])
            elif stripped := line.strip(_BLANK):
                yield stripped
        yield from self._hold(rest)

    def _end_line(self, rest: bytes) -> Iterator[bytes | TooLong]:
        """Yield the line begun in an earlier chunk."""
        yield from self._hold(rest)
        held, skipped = bytes(self._held), self._skipped
        self._held, self._skipped = bytearray(), None
        if skipped is not None:
            yield TooLong(self._limit, skipped, held)
        elif line := held.strip(_BLANK):
            yield line

    def _hold(self, rest: bytes) -> Iterator[TooLong]:
        self._held += rest
        if self._skipped is None and len(self._held) > self._limit:
            head = self._skipped = bytes(self._held[:ENDS_BYTES])
            yield TooLong(self._limit, head)
        if self._skipped is not None:
            del self._held[:-ENDS_BYTES]
