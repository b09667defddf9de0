"""What the oracle calls the versions of extensions that are pinned."""

from __future__ import annotations

from typing import Final

__all__ = ["ORACLES"]

ORACLES: Final = {
    "tasks@draft-2026-08-21": "tasks-draft",
    "apps@2026-01-26": "apps-2026-01-26",
    "server-card@draft-2026-07-24": "server-card",
    "tool-resolution@draft-2026-08-21": "tool-resolution",
}
