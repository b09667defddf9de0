"""Shows the standard error of a child process on ours, without what would steer a terminal."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from contextlib import suppress

__all__ = ["StderrView", "printable"]


def printable(text: str) -> str:
    """Lines of text whose control and invisible characters are escapes."""
    text = text.replace("\r\n", "\n")
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


class StderrView:
    """Writes chunks, which may be cut anywhere, to standard error as they come."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")

    def __call__(self, chunk: bytes) -> None:
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
            with suppress(OSError, ValueError):
                sys.stderr.write(printable(self._decoder.decode(chunk)))
                sys.stderr.flush()
