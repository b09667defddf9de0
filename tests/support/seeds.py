"""The seed of a run: all that the tests draw by chance follows from it.

It is 1 unless `--seed` gives another one, so a test cannot fail by chance: another run draws the
same. `--seed new` draws a seed, to look for faults that nobody has met; the last line of the run
says it, and the same seed draws the same again.
"""

from __future__ import annotations

import os
import secrets
from typing import Final

__all__ = ["NEW", "USUAL", "choose", "seed"]

USUAL: Final = "1"
NEW: Final = "new"
"""Asks for a seed that no run had."""
_VARIABLE: Final = "MCP_TEST_SEED"
"""Holds the seed in the environment, which the workers of xdist inherit: all draw alike."""


def choose(chosen: str = "") -> str:
    """Choose the seed of this run, of its workers and of its children, and return it."""
    if chosen == NEW:
        chosen = str(secrets.randbits(32))
    if chosen:
        os.environ[_VARIABLE] = chosen
    return os.environ.setdefault(_VARIABLE, USUAL)


def seed(what: str) -> str:
    """The seed of one draw, which follows from that of the run and from the name of the draw."""
    return f"{choose()} {what}"
