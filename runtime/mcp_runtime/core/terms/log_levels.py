"""The levels of log messages.

Source: 2025-11-25 server/utilities/logging, "Log Levels".
"""

from __future__ import annotations

from typing import Final, get_args

from mcp_runtime.revisions import latest

LEVELS: Final[tuple[str, ...]] = get_args(latest.LoggingLevel)
"""From the least severe to the most severe."""


def require_level(level: str) -> None:
    """Raise ValueError if the text is not a level."""
    if level not in LEVELS:
        raise ValueError(f"{level!r:.80} is not a log level; the levels are {', '.join(LEVELS)}")
