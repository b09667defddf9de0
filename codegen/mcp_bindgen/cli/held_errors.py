"""Holds back what a server writes to standard error while it is being opened.

Our client asks a server first what it speaks, and servers of earlier revisions may print pages
about a request that they do not know, though nothing is wrong.
"""

from __future__ import annotations

from typing import Final

__all__ = ["HeldErrors"]

_KEPT: Final = 65_536
"""Bytes that are held back: the last ones."""
_LINES: Final = 20


class HeldErrors:
    """A view of a server's standard error that shows nothing before `show`, or `show_end`."""

    def __init__(self, *, shows: bool = False) -> None:
        from mcp_runtime.transports.stderr import StderrView

        self._view = StderrView()
        self._held = bytearray()
        self._shows = shows

    def __call__(self, chunk: bytes) -> None:
        if self._shows:
            self._view(chunk)
        else:
            self._held += chunk
            del self._held[:-_KEPT]

    def show(self) -> None:
        """Shows what comes from now on; what was held back is dropped."""
        self._shows = True
        self._held.clear()

    def show_end(self) -> None:
        """Shows the last lines of what was held back, since the server could not be opened."""
        lines = bytes(self._held).splitlines(keepends=True)
        self.show()
        self._view(b"".join(lines[-_LINES:]))
