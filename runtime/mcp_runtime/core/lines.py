"""Splits a byte stream into lines, one message each.

A line ends at 0x0A alone. A line that is too long is reported once and skipped to its end; the next
one is read as usual.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Lines", "TooLong"]

_NEWLINE: Final = b"\n"
_BLANK: Final = b" \t\r"


@dataclass(frozen=True, slots=True)
class TooLong:
    """In place of a line with more than `limit` bytes."""

    limit: int


class Lines:
    """Any chunks of a stream give the same lines; at most `limit` bytes are held between them.

    Source: all revisions, basic/transports, "stdio".
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        """The lines that end in `chunk`, without their newline; blank ones are left out."""
        *lines, rest = chunk.split(_NEWLINE)
        for line in lines:
            if self._held or self._skipping:
                yield from self._ended(line)
            elif len(line) > self._limit:
                yield TooLong(self._limit)
            elif stripped := line.strip(_BLANK):
                yield stripped
        yield from self._hold(rest)

    def _ended(self, end: bytes) -> Iterator[bytes | TooLong]:
        """The line that was begun in an earlier chunk."""
        held, self._held = self._held, bytearray()
        if self._skipping:
            self._skipping = False
        elif len(held) + len(end) > self._limit:
            yield TooLong(self._limit)
        elif line := (bytes(held) + end).strip(_BLANK):
            yield line

    def _hold(self, rest: bytes) -> Iterator[TooLong]:
        if self._skipping:
            return
        if len(self._held) + len(rest) > self._limit:
            self._skipping = True
            self._held = bytearray()
            yield TooLong(self._limit)
        else:
            self._held += rest
