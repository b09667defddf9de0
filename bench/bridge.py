"""Measures a bridge beside a relay that only copies lines, each in front of the same server.

The relay's client speaks the server's revision, since a relay translates nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from bench.pairs import Row
from bench.stdio import WORKS, Server, paired

__all__ = ["ROUTES", "bridge"]

_HERE: Final = Path(__file__).parent / "servers"
_ROUNDS: Final = 25

ROUTES: Final = (
    ("2025-11-25", "2025-11-25"),
    ("2026-07-28", "2026-07-28"),
    ("2024-11-05", "2026-07-28"),
    ("2026-07-28", "2024-11-05"),
)
"""The revisions of the client and of the server."""

_BAR: Final = 0.67
"""A call takes at most half as long again as through the relay."""


def bridge() -> Iterator[Row]:
    """A typed `add(a, b)` through our bridge, beside a relay in asyncio that copies lines."""
    for client, server in ROUTES:
        behind = (sys.executable, str(_HERE / "behind.py"), server)
        ours = Server((sys.executable, str(_HERE / "bridge.py"), *behind), client)
        relay = Server((sys.executable, str(_HERE / "relay.py"), *behind), server)
        for name, work in WORKS.items():
            sides = partial(work, ours), partial(work, relay)
            yield paired(f"{client} to {server}, {name}", _ROUNDS, *sides, _BAR)
        for side in (ours, relay):
            side.close()
