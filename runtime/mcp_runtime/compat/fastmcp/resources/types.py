"""Stand-in for `fastmcp.resources.types`: resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.resources import (
    FileResource,
    FunctionResource,
    Resource,
    ResourceContent,
    ResourceResult,
    ResourceTemplate,
    TextResource,
)

__all__ = [
    "FileResource",
    "FunctionResource",
    "Resource",
    "ResourceContent",
    "ResourceResult",
    "ResourceTemplate",
    "TextResource",
]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
