"""Splits a byte stream into lines, one message each.

A line ends at 0x0A alone. A line that is too long is reported and skipped to its end; the next one
is read as usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_NEWLINE: Final = b"\n"
_BLANK: Final = b" \t\r"
ENDS_BYTES: Final = 4096
"""What is kept of the beginning and of the end of a message that is too long."""


@dataclass(frozen=True, slots=True)
class TooLong:
    """In place of a message with more than `limit` bytes: its beginning, and later also its end.

    It comes twice: as soon as the limit is crossed, with `tail` None, and at the message's end.
    """

    limit: int
    head: bytes
    tail: bytes | None = None


class Lines:
    """Any chunks of a stream give the same lines; at most `limit` bytes are held between them.

    Source: all revisions, basic/transports, "stdio".
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._skipped: bytes | None = None
        """The beginning of the line that is skipped; `_held` has the end of what came of it."""

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        """The lines that end in `chunk`, without their newline; blank ones are left out."""
        *lines, rest = chunk.split(_NEWLINE)
        for line in lines:
            if self._held or self._skipped is not None:
                yield from self._ended(line)
            elif len(line) > self._limit:
                yield TooLong(self._limit, line[:ENDS_BYTES])
                yield TooLong(self._limit, line[:ENDS_BYTES], line[-ENDS_BYTES:])
            elif stripped := line.strip(_BLANK):
                yield stripped
        yield from self._hold(rest)

    def _ended(self, rest: bytes) -> Iterator[bytes | TooLong]:
        """The line that was begun in an earlier chunk."""
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
