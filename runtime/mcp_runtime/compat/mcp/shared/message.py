"""A message with its metadata, as streams of `mcp` 1.x carry it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_runtime.compat.elsewhere import lacking


@dataclass
class SessionMessage:
    """A message of JSON-RPC; a transport of your own is a `Wire` here (docs/TRANSPORTS)."""

    message: Any
    metadata: Any = None


if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
