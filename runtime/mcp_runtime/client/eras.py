"""Memory of the revisions servers speak, kept for the process, so each server is probed only once.

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

known: Final[dict[Hashable, Mode]] = {}
"""The mode each server spoke last; the entry remembered longest ago comes first."""


def recall(key: Hashable | None) -> Mode | None:
    """Return the mode this server spoke last; None if unknown."""
    return None if key is None else known.get(key)


def remember(key: Hashable | None, mode: Mode | None) -> None:
    """Remember the mode of a server; None forgets the server. Above a limit the oldest are
    forgotten.
    """
    if key is None:
        return
    known.pop(key, None)
    if mode is not None:
        known[key] = mode
    while len(known) > REMEMBERED_SERVERS:
        del known[next(iter(known))]
