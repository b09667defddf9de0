"""Memory of the revisions servers speak, so each server is probed only once.

The key is a command with its folder, or a URL without its query. The memory only decides how a
client begins: if a server has changed since, the client finds out again. A handshake is remembered
only if the server was probed before, since the server may speak more than the client offered.

Source: 2026-07-28 basic/versioning, "Backward Compatibility with Initialization-Based Versions".
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Literal, TypeAlias

from mcp_runtime.limits import REMEMBERED_SERVERS

Mode: TypeAlias = Literal["per-request", "handshake", "HTTP+SSE"]


class ServerMemory:
    """The mode each server spoke last, for at most `REMEMBERED_SERVERS` servers."""

    def __init__(self) -> None:
        self._modes: Final[dict[Hashable, Mode]] = {}
        """By server; the entry remembered longest ago comes first."""

    def recall(self, key: Hashable | None) -> Mode | None:
        """Return the mode this server spoke last; None if unknown."""
        return None if key is None else self._modes.get(key)

    def remember(self, key: Hashable | None, mode: Mode | None) -> None:
        """Remember the mode of a server; None forgets the server. Above the limit the oldest are
        forgotten.
        """
        if key is None:
            return
        self._modes.pop(key, None)
        if mode is not None:
            self._modes[key] = mode
        while len(self._modes) > REMEMBERED_SERVERS:
            del self._modes[next(iter(self._modes))]

    def clear(self) -> None:
        """Forget all servers."""
        self._modes.clear()


OF_PROCESS: Final = ServerMemory()
"""The memory of clients that are given no other."""
