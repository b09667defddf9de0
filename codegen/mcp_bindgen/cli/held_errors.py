"""Holds back a server's standard error until the server has been opened.

Our client first asks for the protocol version, and servers of earlier revisions may print pages
about the unknown request, although nothing is wrong.
"""

from __future__ import annotations

from typing import Final

__all__ = ["HeldErrors"]

_KEPT: Final = 65_536
"""The last bytes held back."""
_LINES: Final = 20


class HeldErrors:
    """A view of a server's standard error, silent before `show` or `show_end`."""

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
        """Show all further output, and drop the output held back."""
        self._shows = True
        self._held.clear()

    def show_end(self) -> None:
        """Show the last lines held back, since the server could not be opened."""
        lines = bytes(self._held).splitlines(keepends=True)
        self.show()
        self._view(b"".join(lines[-_LINES:]))
