"""Stand-in for `fastmcp.resources`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.fastmcp.server.features import Resource, ResourceContent, ResourceResult
from mcp_runtime.compat.tools import file_resource, text_resource

FunctionResource = Resource
ResourceTemplate = Resource
TextResource = partial(text_resource, Resource)
FileResource = partial(file_resource, Resource)

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
