"""What servers speak, remembered for the process, so that each is probed only once.

The key is a command with its folder, or a URL without its query. What is remembered is only where a
client begins: a server that speaks something else by now is found out again. A handshake is
remembered only of a server that was asked first, as one may speak more than that client offered.

Source: 2026-07-28 basic/versioning, "Backward Compatibility with Initialization-Based Versions".
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Literal, TypeAlias

from mcp_runtime.limits import REMEMBERED_SERVERS

Mode: TypeAlias = Literal["per-request", "handshake", "HTTP+SSE"]

known: Final[dict[Hashable, Mode]] = {}
"""What each server spoke last; the one remembered longest ago comes first."""


def recall(key: Hashable | None) -> Mode | None:
    """What that server spoke last; None if it is not known."""
    return None if key is None else known.get(key)


def remember(key: Hashable | None, mode: Mode | None) -> None:
    """Remembers a server, or with None forgets it; the oldest go first."""
    if key is None:
        return
    known.pop(key, None)
    if mode is not None:
        known[key] = mode
    while len(known) > REMEMBERED_SERVERS:
        del known[next(iter(known))]
