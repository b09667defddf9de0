"""Stand-in for `mcp.server.fastmcp.resources.types`: resources of a text or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.mcp.server.fastmcp.resources import (
    FileResource,
    FunctionResource,
    TextResource,
)

__all__ = ["FileResource", "FunctionResource", "TextResource"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
