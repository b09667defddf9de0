"""A stream of bytes cut into lines, one message each.

Lines end at 0x0A and nowhere else. A line that is too long is told once, skipped to its end, and
the next one is read as if nothing had been.
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
        start = 0
        while (end := chunk.find(_NEWLINE, start)) >= 0:
            yield from self._line(chunk, start, end)
            start = end + 1
        yield from self._hold(chunk, start)

    def _line(self, chunk: bytes, start: int, end: int) -> Iterator[bytes | TooLong]:
        held, self._held = self._held, bytearray()
        if self._skipping:
            self._skipping = False
        elif len(held) + end - start > self._limit:
            yield TooLong(self._limit)
        elif line := (bytes(held) + chunk[start:end] if held else chunk[start:end]).strip(_BLANK):
            yield line

    def _hold(self, chunk: bytes, start: int) -> Iterator[TooLong]:
        if self._skipping:
            return
        if len(self._held) + len(chunk) - start > self._limit:
            self._skipping = True
            self._held = bytearray()
            yield TooLong(self._limit)
        else:
            self._held += memoryview(chunk)[start:]
