"""Stand-in for `mcp.server.fastmcp.resources`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mcp_runtime.compat.elsewhere import lacking
from mcp_runtime.compat.mcp.server.fastmcp.features import Manager as ResourceManager
from mcp_runtime.compat.mcp.server.fastmcp.features import Resource
from mcp_runtime.compat.tools import file_resource, text_resource

FunctionResource = Resource
TextResource = partial(text_resource, Resource)
FileResource = partial(file_resource, Resource)

__all__ = ["FileResource", "FunctionResource", "Resource", "ResourceManager", "TextResource"]

if not TYPE_CHECKING:
    __getattr__ = lacking(__name__)
