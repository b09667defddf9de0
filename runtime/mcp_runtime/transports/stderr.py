"""Shows the standard error of a child process on ours, with terminal control codes escaped."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from contextlib import suppress

from mcp_runtime.errors import printable


class StderrView:
    """Writes chunks, cut anywhere, to standard error at once."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")

    def __call__(self, chunk: bytes) -> None:
        with suppress(AttributeError, OSError, ValueError):  # there may be no standard error
            sys.stderr.write(printable(self._decoder.decode(chunk)))
            sys.stderr.flush()
