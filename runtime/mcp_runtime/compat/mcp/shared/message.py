"""A message with its metadata, as streams of `mcp` 1.x carry it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class SessionMessage:
    """A message of JSON-RPC; a transport of your own is a `Wire` here (docs/TRANSPORTS)."""

    message: Any
    metadata: Any = None
