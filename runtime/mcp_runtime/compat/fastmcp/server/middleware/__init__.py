"""Stand-in for `fastmcp.server.middleware`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.middleware.middleware import (
    CallNext,
    Middleware,
    MiddlewareContext,
)

__all__ = ["CallNext", "Middleware", "MiddlewareContext"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
