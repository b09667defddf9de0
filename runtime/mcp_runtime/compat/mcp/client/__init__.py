"""Stand-in for `mcp.client` of `mcp` 1.x."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
